// Requests of other agents, one at a time: each becomes a turn, and the settled answer of that turn is its reply.

import { CONTENT, cut, isGateway, named, renderOnce } from "./fence.ts";
import { final, pauseMs, Refused, type Hub, type Message } from "./hub.ts";

export const CUSTOM_TYPE = "kxm-inbound";
const RANK = { steer: 0, followUp: 1, nextTurn: 2 };
const NO_TEXT = "The turn ended without a text. Ask again if you need an answer.";
const FAILED = "its model failed or was stopped, and the request has no answer";
const SETTLED_WITHOUT_US = 2;

interface Current {
  message: Message;
  injected: boolean;
  started: boolean;
  settled: number;
  text: string;
  failed: boolean;
  taken?: Promise<void>;
}

export interface Session {
  inject(content: string, details: Record<string, string>, deliverAs: "steer" | "followUp"): void;
  idle(): boolean;
  notice(text: string): void;
}

export class Inbound {
  private hub: Hub;
  private session: Session;
  private pending: Message[] = [];
  private known = new Set<string>();
  private current: Current | undefined;
  private stopped = false;
  private work = new Set<Promise<void>>();

  constructor(hub: Hub, session: Session) {
    this.hub = hub;
    this.session = session;
  }

  /** The request that the model is at work on: what it sends meanwhile continues that chain. */
  get active(): Message | undefined {
    return this.current?.started ? this.current.message : undefined;
  }

  /** Whether none is with the session or on its way there. */
  get resting(): boolean {
    return !this.current;
  }

  add(message: Message): void {
    if (this.known.has(message.id) || final(message)) return;
    this.known.add(message.id);
    const rank = RANK[message.delivery] ?? 1;
    const after = this.pending.findIndex((other) => (RANK[other.delivery] ?? 1) > rank);
    this.pending.splice(after < 0 ? this.pending.length : after, 0, message);
  }

  drop(id: string): void {
    this.pending = this.pending.filter((message) => message.id !== id);
  }

  /** Give the next one to the session. What is not a steer waits until the session rests. */
  next(): void {
    const message = this.pending[0];
    if (!message || this.current || this.stopped) return;
    if (message.delivery !== "steer" && !this.session.idle()) return;
    this.pending.shift();
    this.current = { message, injected: false, started: false, settled: 0, text: "", failed: false };
    this.keep(this.inject(this.current));
  }

  started(id: unknown): void {
    const current = this.current;
    if (!current || current.started || current.message.id !== id) return;
    current.started = true;
    current.taken = this.acknowledge(current.message.id);
    this.keep(current.taken);
  }

  ended(text: string, failed: boolean): void {
    if (this.current?.started) Object.assign(this.current, { text, failed });
  }

  settled(): void {
    const current = this.current;
    if (current && !current.started) {
      // Pi's queue may have been cleared under it; a message on its way to a new turn gets one settling of grace.
      if (current.injected && ++current.settled >= SETTLED_WITHOUT_US) {
        this.current = undefined;
        this.pending.unshift(current.message);
      }
    } else if (current) {
      this.current = undefined;
      if (current.failed) {
        this.session.notice(`kxm: the model failed; request ${current.message.id} stays unanswered`);
        this.keep(this.unanswered(current));
      } else this.keep(this.reply(current.message.id, current.text));
    }
    this.next();
  }

  /** Begin nothing more; what is under way, replies before all, is given a moment to end. */
  async drain(ms: number): Promise<void> {
    this.stopped = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
    await Promise.race([Promise.allSettled([...this.work]), late]);
    clearTimeout(timer);
  }

  private keep(work: Promise<void>): void {
    const kept = work.finally(() => this.work.delete(kept));
    this.work.add(kept);
  }

  private async inject(current: Current): Promise<void> {
    const id = current.message.id;
    const message = await this.untilTaken(() => this.hub.get(id));
    if (this.stopped) return;
    if (!message || final(message)) {
      this.current = undefined;
      return this.next();
    }
    current.message = message;
    const deliverAs = message.delivery === "steer" ? "steer" : "followUp";
    const details = { messageId: id, from: message.fromName };
    current.injected = true;
    this.session.inject(content(message), details, deliverAs);
    await this.hub.fact(id, "announced");
  }

  private async acknowledge(id: string): Promise<void> {
    await this.untilTaken(() => this.hub.call("POST", `/v1/messages/${id}/ack`, { adapter: "pi" }));
    await this.hub.fact(id, "in turn");
  }

  /** Say why there is no answer, behind what was said of the turn's beginning. */
  private async unanswered(current: Current): Promise<void> {
    await current.taken;
    await this.hub.fact(current.message.id, "in turn", FAILED);
  }

  private async reply(id: string, text: string): Promise<void> {
    const answer = shortened(text.trim() || NO_TEXT);
    await this.untilTaken(async () => {
      if (final(await this.hub.get(id))) return;
      await this.hub.call("POST", `/v1/messages/${id}/reply`, { content: answer });
    });
  }

  /** Try until the hub answers; a refusal is an answer, and nothing comes back with it. */
  private async untilTaken<T>(call: () => Promise<T>): Promise<T | undefined> {
    for (let tries = 0; this.hub.open; tries++) {
      try {
        return await call();
      } catch (error) {
        if (error instanceof Refused && error.status < 500 && error.status !== 401 && error.status !== 429) return undefined;
        await this.hub.pause(pauseMs(tries));
      }
    }
    return undefined;
  }
}

export function shortened(text: string): string {
  if (text.length <= CONTENT) return text;
  const note = `\n\n[cut: the whole answer had ${text.length} characters]`;
  return cut(text, CONTENT - note.length) + note;
}

function content(message: Message): string {
  const origin = { from: message.fromName, request: message.id };
  const body = renderOnce(message.content, origin, isGateway(message.fromName));
  return (
    `${named(message.fromName)}, another agent, asks:\n\n${body}\n\n` +
    `The final answer of this turn goes to ${named(message.fromName)} by itself; no tool has to be called for it.`
  );
}
