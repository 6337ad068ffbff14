import { copyPrepared } from "../../support/PreparedData.ts"
import { join } from "node:path"
import { asking, type Drives, offline, openTo, reading } from "./Drive.ts"
import { REPOSITORY } from "./Stage.ts"

const SERVICE = "email.mailbox.create"

/** Commands that need no purchase. */
export const TOOL_DRIVES: Drives<
  | "services list"
  | "services show"
  | "quote"
  | "budget set"
  | "budget show"
  | "doctor"
  | "config list"
  | "config get"
  | "config set"
  | "config path"
  | "completion"
  | "api"
  | "schema"
  | "help"
> = {
  "services list": () => openTo("services list"),
  "services show": () => asking(`services show ${SERVICE}`, { args: "services show email.fax", exit: 5, env: {} }),
  quote: (stage) =>
    asking(`quote ${SERVICE} localPart=${stage.called("quoted")}`, {
      args: "quote email.mailbox.list",
      exit: 3,
      env: {}
    }),
  "budget set": () => offline("budget set --per-call 0.50 --per-day 10", { args: "budget set --per-day much" }),
  "budget show": (stage) => offline("budget show", { before: async () => stage.put("budget.json", "[]") }),
  doctor: (stage) => ({
    ...openTo("doctor"),
    success: { args: "doctor", exit: 0, before: async () => stage.put("budget.json", "{}") }
  }),
  "config set": () =>
    offline("config set rpc-url https://rpc.example", { args: "config set base-url http://agentos.example" }),
  "config list": (stage) => offline("config list", { before: async () => stage.put("agentctl.json", "{") }),
  "config get": (stage) => ({
    ...offline("config get base-url", { args: "config get wallet-file", exit: 5 }),
    success: { args: "config get base-url", exit: 0, before: async () => stage.put("agentctl.json", "{}") }
  }),
  "config path": () => offline("config path", { args: "config path journal" }),
  completion: () => offline("completion bash", { args: "completion tcsh" }),
  api: () => ({
    ...asking("api GET /api/v1", { args: "api POST /api/v1/email/mailboxes localPart=ada", exit: 7, env: {} }),
    person: [reading("api POST /api/v1/events/list --input -")]
  }),
  schema: () => offline("schema config path", { args: "schema confg" }),
  help: () => offline("help events ack", { args: "help event" })
}

export const DEV_DRIVES: Drives<"dev"> = {
  dev: async (stage) => {
    stage.folder = REPOSITORY
    await copyPrepared(join(stage.customer.home, "sandbox"), ["chain", "server", "database"])
    const args = "dev --port 0 --data ~/sandbox"
    return {
      success: { args, exit: 0, interrupt: { said: "Press Ctrl-C" } },
      failure: {
        args: `${args} --profile other`,
        exit: 6,
        before: () => stage.ask("config", "set", "base-url", "https://agentos.example", "--profile", "other")
      },
      interrupt: { args: `${args} --profile another`, exit: 130, interrupt: { said: "Starting" } },
      asProgram: { success: "the rig's own" }
    }
  }
}
