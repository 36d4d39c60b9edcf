// The extension: a Pi session is an agent on the hub from its start to its end.

import { named, visible } from "./fence.ts";
import { Hub, type Message } from "./hub.ts";
import { CUSTOM_TYPE, Inbound } from "./inbound.ts";
import { placeOf } from "./place.ts";
import { tools } from "./tools.ts";

const DRAIN_MS = 3_000;
const OUTCOME_TYPE = "kxm-outcome";

export default function (pi: any) {
  if (process.env.KXM_WORKER_SEAT) return; // `kxm agent worker` hands the session its requests and its tools
  // A `kxm mcp` that Pi starts as well offers no tools then: the model would see each twice.
  process.env.KXM_PI_EXTENSION = String(process.pid);
  let hub: Hub | undefined;
  let inbound: Inbound | undefined;
  let tell = () => {};
  const awaited = new Set<string>();
  const ends = new Map<string, Message>();

  const stop = async () => {
    const [closing, draining] = [hub, inbound];
    hub = inbound = undefined;
    await draining?.drain(DRAIN_MS);
    await closing?.close();
  };

  pi.on("session_start", async (_event: any, ctx: any) => {
    await stop();
    const notice = (text: string) => ctx.hasUI && ctx.ui.notify(text, "warning");
    const mine = new Hub(placeOf(ctx.cwd), ctx.model ? `${ctx.model.provider}/${ctx.model.id}` : undefined);
    const queue = new Inbound(mine, {
      inject: (content, details, deliverAs) =>
        pi.sendMessage({ customType: CUSTOM_TYPE, content, display: true, details }, { triggerTurn: true, deliverAs }),
      idle: () => ctx.isIdle(),
      notice,
    });
    [hub, inbound] = [mine, queue];
    const ready = async () => {
      const { messages } = await mine.call("GET", `/v1/agents/${mine.agentId}/inbox`);
      for (const message of messages) queue.add(message);
      queue.next();
    };
    const on = (kind: string, data: any) => {
      if (kind === "message") {
        queue.add(data.message);
        queue.next();
        return;
      }
      if (kind === "cancelled" || kind === "expired") queue.drop(data.message.id);
      if (kind === "reply" || kind === "expired") ended(data.message);
    };
    // An end of a request of ours waits until the session rests: told in a turn it would change that turn's answer.
    const ended = (message: Message) => {
      if (message.from === mine.agentId) ends.set(message.id, message);
      tell();
    };
    tell = () => {
      if (hub !== mine || !queue.resting || !ctx.isIdle()) return;
      for (const message of ends.values()) if (!awaited.has(message.id)) announce(message);
      ends.clear();
    };
    const announce = (message: Message) => {
      const [id, name] = [visible(message.id, 80), named(message.toName)];
      const content = message.reply
        ? `KXM: ${name} replied to your request. Read it: kxm_get with messageId "${id}".`
        : `KXM: your request ${id} to ${name} expired without a reply.`;
      const details = { messageId: message.id, from: message.toName };
      pi.sendMessage({ customType: OUTCOME_TYPE, content, display: true, details }, { triggerTurn: true, deliverAs: "followUp" });
      void mine.fact(message.id, "announced");
    };
    void mine.run(ready, on, (text) => notice(`kxm: ${visible(text)}`));
    void mine.beat();
  });

  pi.on("session_shutdown", stop);

  pi.on("message_start", (event: any) => {
    if (event.message.role === "custom" && event.message.customType === CUSTOM_TYPE) inbound?.started(event.message.details?.messageId);
  });

  pi.on("agent_end", (event: any) => {
    const last = event.messages.findLast((message: any) => message.role === "assistant");
    if (!last) return;
    const said = last.content.filter((part: any) => part.type === "text").map((part: any) => part.text);
    inbound?.ended(said.join("\n"), last.stopReason === "error" || last.stopReason === "aborted");
  });

  pi.on("agent_settled", () => {
    inbound?.settled();
    tell();
  });

  const peers = {
    hub: () => {
      if (!hub) throw new Error("the session has no hub");
      return hub;
    },
    active: () => inbound?.active,
    awaited,
  };
  for (const { name, description, parameters, run } of tools(peers)) {
    pi.registerTool({
      name, label: name, description, parameters,
      execute: async (_id: string, given: any, signal?: AbortSignal) => ({
        content: (await run(given, signal)).map((text) => ({ type: "text", text })), details: {},
      }),
    });
  }
}
