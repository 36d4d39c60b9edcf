// Which hub, project and name a session is, and the files of this user that prove it: the same that `kxm` uses.

import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { homedir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";

const env = process.env;

export interface Place {
  url: string;
  project: string;
  name: string;
  purpose: string;
}

export function placeOf(folder: string): Place {
  const bound = readObject(join(stateRoot(), "hub-binding.json")).url;
  const url = env.KXM_SERVER_URL || (typeof bound === "string" ? bound : "") || "http://127.0.0.1:7331";
  const project = env.KXM_PROJECT?.trim() || projectOf(folder);
  const name = env.KXM_AGENT_NAME?.trim() || `pi-${project}`.slice(0, 64);
  return { url: url.replace(/\/+$/, ""), project, name, purpose: env.KXM_AGENT_PURPOSE?.trim() || "Pi session" };
}

/** The project's token; with `renew` one that an earlier session minted is replaced. */
export async function tokenOf(place: Place, renew = false): Promise<string> {
  const given = env.KXM_AUTH_TOKEN?.trim();
  if (given) return given;
  const saved = readObject(join(stateRoot(), "hub-env.json")).projectTokens?.[place.project];
  if (typeof saved === "string") return saved;
  const path = join(stateRoot(), "local-tokens.json");
  const minted = readObject(path).hubs?.[place.url]?.[place.project];
  if (typeof minted === "string" && !renew) return minted;
  const token = await mint(place);
  const hubs = readObject(path).hubs ?? {};
  hubs[place.url] = { ...hubs[place.url], [place.project]: token };
  write(path, { schema: "kxm.local-tokens.v1", hubs });
  return token;
}

/** Where the key is kept with which the next session with this name is the same agent, also after `kill -9`. */
export function keyFile(place: Place, name: string): string {
  const identity = ["pi", place.url, place.project, name.toLowerCase()].join("\n");
  return join(stateRoot(), "agents", `${sha256(identity).slice(0, 32)}.key`);
}

export function readObject(path: string): any {
  try {
    const about = lstatSync(path);
    if (!about.isFile() || about.uid !== userInfo().uid || about.mode & 0o022) return {};
    const value = JSON.parse(readFileSync(path, "utf8"));
    return value && typeof value === "object" && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

/** Replace a private file in one step; a folder that cannot be written costs the identity after a crash, no more. */
export function write(path: string, value: unknown): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const draft = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
    writeFileSync(draft, JSON.stringify(value), { mode: 0o600, flag: "wx" });
    renameSync(draft, path);
  } catch {
    return;
  }
}

// As `kxm` does: package.json's name, else the repository's (the main one behind a work tree), else the folder's.
function projectOf(folder: string): string {
  let top = "";
  let common = "";
  try {
    const words = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"];
    const said = execFileSync("git", words, { cwd: folder, stdio: ["ignore", "pipe", "ignore"], timeout: 2_000 });
    [top = "", common = ""] = said.toString().split("\n");
  } catch {
    top = "";
  }
  const named = readPackage(join(folder, "package.json")) || (top && readPackage(join(top, "package.json")));
  return named || basename(top ? dirname(common) : folder) || "default";
}

function readPackage(path: string): string {
  try {
    const name = JSON.parse(readFileSync(path, "utf8")).name;
    return typeof name === "string" ? name.trim() : "";
  } catch {
    return "";
  }
}

function stateRoot(): string {
  if (env.KXM_STATE_HOME) return env.KXM_STATE_HOME;
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "KXM");
  const base = env.XDG_STATE_HOME ?? "";
  return join(isAbsolute(base) ? base : join(homedir(), ".local", "state"), "kxm");
}

function socketPath(port: string): string {
  if (env.KXM_SOCKET_PATH) return env.KXM_SOCKET_PATH;
  const path = join(stateRoot(), `hub-${port}.sock`);
  if (Buffer.byteLength(path) <= 100) return path;
  const short = sha256(stateRoot()).slice(0, 16);
  const own = `/tmp/kxm-${userInfo().uid}`;
  const runtime = env.XDG_RUNTIME_DIR ?? "";
  const there = join(isAbsolute(runtime) ? join(runtime, "kxm") : own, `${short}-${port}.sock`);
  return Buffer.byteLength(there) <= 100 ? there : join(own, `${short}-${port}.sock`);
}

function mint(place: Place): Promise<string> {
  const at = new URL(place.url);
  const path = socketPath(at.port || "80");
  const missing = new Error(`no token of project ${place.project}: set KXM_AUTH_TOKEN, or start the hub here: kxm hub start`);
  if (!["127.0.0.1", "localhost", "[::1]"].includes(at.hostname)) return Promise.reject(missing);
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ project: place.project });
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body), host: "localhost" };
    const asked = request({ socketPath: path, method: "POST", path: "/v1/local/token", headers, timeout: 5_000 }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece: string) => (text += piece));
      answer.on("end", () => {
        try {
          const token = JSON.parse(text).token;
          if (typeof token === "string") return resolve(token);
        } catch {
          return reject(missing);
        }
        reject(missing);
      });
    });
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => reject(missing));
    asked.end(body);
  });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
