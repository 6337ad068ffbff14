import { spawn } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, it } from "vitest"
import { errorReply, useApiDouble } from "../support/ApiDouble.ts"
import { challenge, KEY } from "../support/PaidAnswers.ts"
import { outcomeOf, useProgram } from "../support/Program.ts"

const program = useProgram()
const api = useApiDouble()
const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** Records the loaded modules. */
const WATCH = `
  import { appendFileSync } from "node:fs"
  import { registerHooks } from "node:module"
  registerHooks({
    load: (url, context, next) => {
      appendFileSync(process.env.LOADED, url + "\\n")
      return next(url, context)
    }
  })`

const loadedBy = async (args: ReadonlyArray<string>): Promise<string> => {
  const folder = program.folder()
  const [watch, loaded] = [join(folder, "watch.mjs"), join(folder, "loaded")]
  writeFileSync(watch, WATCH)
  writeFileSync(loaded, "")
  const child = spawn(process.execPath, ["--import", watch, MAIN, ...args], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      AGENTOS_HOME: folder,
      AGENTOS_BASE_URL: api.url(),
      AGENTOS_RPC_URL: `${api.url()}/rpc`,
      AGENTOS_PRIVATE_KEY: KEY,
      LOADED: loaded
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  await outcomeOf(child)
  return readFileSync(loaded, "utf8")
}

it("loads viem only to sign", async () => {
  const service = {
    serviceId: "email.mailbox.create",
    method: "POST",
    path: "/api/v1/email/mailboxes",
    price: {},
    purpose: "",
    inputs: []
  }
  api.on("GET /api/v1/services/email.mailbox.create", { data: { service } })
  const refused = errorReply(402, "PAYMENT_REQUIRED", { paymentState: "none" })
  api.on("POST /api/v1/email/mailboxes", challenge(), challenge(), challenge(), refused)
  const create = ["mailbox", "create", "ada", "--yes", "--max-amount"]
  for (const args of [
    ["quote", "email.mailbox.create", "localPart=ada"],
    [...create, "0.01"],
    ["payments", "resume"]
  ]) {
    const loaded = await loadedBy(args)
    assert.include(loaded, "/src/main.ts")
    assert.notInclude(loaded, "viem", args.join(" "))
  }
  assert.include(await loadedBy([...create, "0.25"]), "viem")
})
