import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { useApiDouble } from "../support/ApiDouble.ts"
import { play, removeFolders } from "../support/InProcess.ts"
import { paid } from "../support/PaidAnswers.ts"
import { ADDRESS, ID, mailbox, message, OPERATION, selling, sent } from "../support/Samples.ts"

const api = useApiDouble()
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterAll(() => {
  vi.useRealTimers()
  removeFolders()
})

const PAY = ["--yes", "--max-amount", "1"]

/** Runs a command that sends, and returns the message in its payment. */
const sentBy = async (args: ReadonlyArray<string>, original: object = message, prepare?: (folder: string) => void) => {
  api.seen.length = 0
  const server = {
    "GET /api/v1/email/mailboxes/query": [{ data: { items: [mailbox] } }],
    "GET /api/v1/email/messages/query": [{ data: { message: original } }],
    ...selling("email/messages/send", paid({ message: sent, operationId: OPERATION }))
  }
  const scene = { args: [...args, ...PAY], exit: 0, server, ...(prepare === undefined ? {} : { prepare }) }
  const { exit, text } = await play(api, scene, "program")
  const requests = api.seen.filter(({ url }) => url.endsWith("/send"))
  return { exit, text, count: requests.length, body: JSON.parse(requests.at(-1)?.body ?? "{}") as object }
}
const reply = (more: ReadonlyArray<string>, original: object = message) =>
  sentBy(["mail", "reply", ID, "--text", "Yes.", ...more], original)

describe("mail reply", () => {
  const crowded = {
    ...message,
    to: [ADDRESS, "Carol@outside.example"],
    cc: ["dan@outside.example", "ADA+x@agents.test"]
  }

  it("goes to the sender from the mailbox of the message, in its thread", async () => {
    assert.deepStrictEqual((await reply([], crowded)).body, {
      mailboxId: ID,
      subject: "Re: Hello",
      text: "Yes.",
      inReplyTo: ID,
      to: ["bob@outside.example"]
    })
  })

  it("goes to everyone except the own mailbox with --all", async () => {
    const { body } = await reply(["--all", "--cc", "eve@outside.example"], crowded)
    assert.deepInclude(body, {
      to: ["bob@outside.example"],
      cc: ["Carol@outside.example", "dan@outside.example", "eve@outside.example"]
    })
  })

  it("to a sent message goes to its recipients", async () => {
    const original = { ...sent, cc: ["carol@outside.example"] }
    assert.deepInclude((await reply([], original)).body, { to: ["bob@outside.example"] })
    assert.deepInclude((await reply(["--all"], original)).body, { cc: ["carol@outside.example"] })
  })

  it("does not repeat the prefix of the subject", async () => {
    assert.deepInclude((await reply([], { ...message, subject: "RE: Hello" })).body, { subject: "RE: Hello" })
    assert.deepInclude((await reply([], { ...message, subject: "" })).body, { subject: "Re:" })
  })
})

describe("--attach", () => {
  it("sends files with their names and types", async () => {
    const { body } = await sentBy(
      ["mail", "reply", ID, "--text", "Yes.", "--attach", "files/plan.PDF", "--attach", "data"],
      message,
      (folder) => {
        mkdirSync(join(folder, "files"))
        writeFileSync(join(folder, "files", "plan.PDF"), "%PDF")
        writeFileSync(join(folder, "data"), new Uint8Array([0, 255]))
      }
    )
    assert.deepInclude(body, {
      attachments: [
        { filename: "plan.PDF", contentType: "application/pdf", contentBase64: "JVBERg==" },
        { filename: "data", contentType: "application/octet-stream", contentBase64: "AP8=" }
      ]
    })
  })

  it("fails before anything is sent if a file is missing, a folder, or too large", async () => {
    const large = (folder: string) => {
      writeFileSync(join(folder, "large"), Buffer.alloc(10 * 1024 * 1024 + 1))
      mkdirSync(join(folder, "folder"))
    }
    const cases = [
      ["missing", 5, "File missing does not exist."],
      ["folder", 1, "Cannot read"],
      ["large", 3, "larger than 10 MiB"]
    ] as const
    for (const [file, code, problem] of cases) {
      const { count, exit, text } = await sentBy(
        ["mail", "reply", ID, "--text", "Yes.", "--attach", file],
        message,
        large
      )
      assert.deepStrictEqual([exit, count], [code, 0], text)
      assert.include(text, problem)
    }
  })
})
