// One agent's session on the hub: registered, kept online, its events read without an end.

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { keyFile, readObject, tokenOf, write, type Place } from "./place.ts";

const HEARTBEAT_MS = 10_000;
const IDLE_MS = 45_000;
const CALL_MS = 15_000;

export interface Message {
  id: string;
  from: string;
  fromName: string;
  to: string;
  toName: string;
  content: string;
  status: string;
  delivery: "steer" | "followUp" | "nextTurn";
  hops: number;
  maxHops: number;
  path?: string[];
  reply?: { content: string; createdAt: string };
  [more: string]: unknown;
}

export class Refused extends Error {
  status: number;
  code: string;

  constructor(status: number, body: any) {
    super(`${body?.error ?? "the hub refused"} [code=${body?.code ?? status}${body?.nextAction ? ` nextAction=${body.nextAction}` : ""}]`);
    this.status = status;
    this.code = String(body?.code ?? "");
  }
}

export function final(message: Message): boolean {
  return message.status !== "queued" && message.status !== "delivered";
}

/** The n-th pause between tries: 250 ms, doubled, 30 s at most. */
export function pauseMs(tries: number): number {
  return Math.min(30_000, 250 * 2 ** Math.min(tries, 7));
}

export class Hub {
  place: Place;
  name: string;
  agentId = "";
  private key = "";
  private token = "";
  private model: string | undefined;
  private closed = new AbortController();
  private lastEvent = "";
  private registering: Promise<void> | undefined;

  constructor(place: Place, model: string | undefined) {
    this.place = place;
    this.name = place.name;
    this.model = model;
  }

  get open(): boolean {
    return !this.closed.signal.aborted;
  }

  /** Until the hub takes us, for ever; then `ready`, and every event to `on`. */
  async run(ready: () => Promise<void>, on: (kind: string, data: any) => void, trouble: (text: string) => void): Promise<void> {
    for (let tries = 0; this.open; tries++) {
      try {
        if (!this.agentId) await this.register();
        await ready();
        await this.read(on, () => (tries = 0));
      } catch (error) {
        if (!this.open) return;
        if (tries === 0) trouble(String((error as Error).message));
        if (error instanceof Refused && error.status === 401) await this.register().catch(() => {});
      }
      await this.pause(pauseMs(tries));
    }
  }

  async beat(): Promise<void> {
    while (this.open) {
      await this.pause(HEARTBEAT_MS);
      if (this.open && this.agentId) await this.call("POST", `/v1/agents/${this.agentId}/heartbeat`, {}).catch(() => {});
    }
  }

  async close(): Promise<void> {
    if (!this.open) return;
    this.closed.abort();
    if (this.agentId) await this.once("DELETE", `/v1/agents/${this.agentId}`).catch(() => {});
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (!this.open) return resolve();
      const done = () => {
        clearTimeout(timer);
        this.closed.signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.closed.signal.addEventListener("abort", done);
    });
  }

  /** A call as this agent; a session that the hub lost is found back once. */
  async call(method: string, path: string, body?: unknown, signal?: AbortSignal, ms = CALL_MS): Promise<any> {
    if (!this.agentId) throw new Error(`the hub at ${this.place.url} is not reached yet; start it: kxm hub start`);
    const key = this.key;
    try {
      return await this.once(method, path, body, signal, ms);
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 401 || !this.open) throw error;
      if (this.key === key) await this.register();
      return await this.once(method, path, body, signal, ms);
    }
  }

  async get(id: string): Promise<Message> {
    return (await this.call("GET", `/v1/messages/${encodeURIComponent(id)}`)).message;
  }

  /** Write into the trail how near a message came to the model; what the trail misses is no reason to stop. */
  async fact(id: string, fact: "announced" | "in turn" | "read", reason?: string): Promise<void> {
    await this.call("POST", `/v1/messages/${encodeURIComponent(id)}/facts`, { fact, adapter: "pi", reason }).catch(() => {});
  }

  private register(): Promise<void> {
    this.registering ??= this.registerNow().finally(() => (this.registering = undefined));
    return this.registering;
  }

  private async registerNow(): Promise<void> {
    this.token ||= await tokenOf(this.place);
    const saved = readObject(keyFile(this.place, this.name));
    if (saved.pid !== process.pid && alive(saved.pid)) this.name = `${this.place.name}-${process.pid}`;
    const resume = this.key || (saved.pid !== process.pid && alive(saved.pid) ? undefined : saved.agentKey);
    let answer: any;
    try {
      answer = await this.ask(resume);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.code === "duplicate_agent_name" && this.name === this.place.name) {
        this.name = `${this.place.name}-${process.pid}`;
        answer = await this.ask(undefined);
      } else if (resume) {
        answer = await this.ask(undefined); // the hub does not know that key any more
      } else if (error.status === 401) {
        this.token = await tokenOf(this.place, true);
        answer = await this.ask(undefined);
      } else throw error;
    }
    this.agentId = answer.agent.id;
    this.key = answer.agentKey;
    write(keyFile(this.place, this.name), { schema: "kxm.agent-key.v1", agentId: this.agentId, agentKey: this.key, pid: process.pid });
  }

  private ask(resume: string | undefined): Promise<any> {
    const { project, purpose } = this.place;
    const body = { name: this.name, project, purpose, model: this.model, host: hostname(), resume };
    return this.fetched("POST", "/v1/agents/register", body, { authorization: `Bearer ${this.token}` });
  }

  private once(method: string, path: string, body?: unknown, signal?: AbortSignal, ms = CALL_MS): Promise<any> {
    return this.fetched(method, path, body, this.headers(), signal, ms);
  }

  private headers(): Record<string, string> {
    return { authorization: `Bearer ${this.token}`, "x-kxm-agent-id": this.agentId, "x-kxm-agent-key": this.key };
  }

  private async fetched(
    method: string, path: string, body: unknown, headers: Record<string, string>, signal?: AbortSignal, ms = CALL_MS,
  ): Promise<any> {
    const ends = [AbortSignal.timeout(ms), ...(signal ? [signal] : [])];
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const answer = await fetch(this.place.url + path, {
      method, headers: { ...headers, ...json }, body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.any(ends), redirect: "error",
    });
    const value = answer.status === 204 ? {} : await answer.json();
    if (!answer.ok) throw new Refused(answer.status, value);
    return value;
  }

  private async read(on: (kind: string, data: any) => void, alive: () => void): Promise<void> {
    const silent = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), IDLE_MS);
    };
    heard();
    try {
      const again = this.lastEvent ? { "last-event-id": this.lastEvent } : {};
      const answer = await fetch(`${this.place.url}/v1/events?agentId=${this.agentId}`, {
        headers: { ...this.headers(), ...again }, signal: AbortSignal.any([silent.signal, this.closed.signal]), redirect: "error",
      });
      if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => undefined));
      let rest = "";
      for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
        heard();
        alive();
        const frames = (rest + piece).split("\n\n");
        rest = frames.pop()!;
        for (const frame of frames) this.frame(frame, on);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  private frame(frame: string, on: (kind: string, data: any) => void): void {
    let kind = "";
    let data = "";
    for (const line of frame.split("\n")) {
      if (line.startsWith("event: ")) kind = line.slice(7);
      else if (line.startsWith("data: ")) data = line.slice(6);
      else if (line.startsWith("id: ")) this.lastEvent = line.slice(4);
    }
    if (kind && data) on(kind, JSON.parse(data));
  }
}

export function newKey(): string {
  return `pi:${randomUUID()}`;
}

function alive(pid: unknown): boolean {
  if (typeof pid !== "number") return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
