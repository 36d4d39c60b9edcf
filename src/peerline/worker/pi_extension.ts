// Loaded by a supervised Pi (`kxm agent worker`): its requests come in by a command, its tools are those of `kxm mcp`.

const COMMAND = "kxm-turn";
const TYPE = "kxm-inbound";

export default function (pi: any) {
  const seat = process.env.KXM_WORKER_SEAT;
  const [command, ...args] = JSON.parse(process.env.KXM_WORKER_KXM ?? "[]");
  if (!seat || !command) throw new Error("this extension is for sessions that kxm agent worker starts");

  pi.registerMcpServer("kxm", { command, args: [...args, "mcp"], env: { KXM_WORKER_SEAT: seat }, exposure: "direct" });

  pi.registerCommand(COMMAND, {
    description: "A request of another agent, given by the worker",
    handler: async (told: string) => {
      const { key, content } = JSON.parse(Buffer.from(told, "base64").toString("utf8"));
      pi.sendMessage({ customType: TYPE, content, display: true, details: { key } }, { triggerTurn: true, deliverAs: "followUp" });
    },
  });
}
