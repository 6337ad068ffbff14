import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { useApiDouble } from "../support/ApiDouble.ts"
import { play, removeFolders } from "../support/InProcess.ts"
import { paid } from "../support/PaidAnswers.ts"
import { ID, mailbox, message, OPERATION, selling, sent, withFile } from "../support/Samples.ts"

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
  it("leaves recipients and subject to the server, and names whom the message wants to be answered", async () => {
    const { body, text } = await reply([], { ...message, replyTo: ["help@outside.example", "x@outside.example"] })
    assert.deepStrictEqual(body, { mailboxId: ID, text: "Yes.", inReplyTo: ID })
    assert.include(text, "one message to help@outside.example +1")
    assert.include((await reply([])).text, "one message to bob@outside.example")
    assert.include((await reply([], sent)).text, "one message to bob@outside.example")
  })

  it("goes to all others with --all, and is no automatic one with --personal", async () => {
    const { body } = await reply(["--all", "--personal", "--cc", "eve@outside.example", "--reply-to", "a@b.example"])
    assert.deepStrictEqual(body, {
      mailboxId: ID,
      text: "Yes.",
      inReplyTo: ID,
      replyAll: true,
      automatic: false,
      cc: ["eve@outside.example"],
      replyTo: ["a@b.example"]
    })
  })
})

describe("mail forward", () => {
  const forward = (original: object, more: ReadonlyArray<string> = []) =>
    sentBy(["mail", "forward", ID, "--to", "carol@outside.example", ...more], original)

  it("leaves the subject, the header, the body and the attachments to the server, below the note", async () => {
    const { body } = await forward(withFile, ["--text", "Is this for you?", "--cc", "dan@outside.example"])
    assert.deepStrictEqual(body, {
      mailboxId: ID,
      text: "Is this for you?",
      forwards: ID,
      to: ["carol@outside.example"],
      cc: ["dan@outside.example"]
    })
    assert.deepStrictEqual((await forward(withFile)).body, {
      mailboxId: ID,
      text: "",
      forwards: ID,
      to: ["carol@outside.example"]
    })
  })

  it("adds files of --attach to those of the message, or replaces them with --no-attachments", async () => {
    const args = ["mail", "forward", ID, "--to", "carol@outside.example", "--attach", "data"]
    const attachments = [{ filename: "data", contentType: "application/octet-stream", contentBase64: "AP8=" }]
    for (const [flags, more] of [
      [[], {}],
      [["--no-attachments"], { forwardAttachments: false }]
    ] as const) {
      const { body } = await sentBy([...args, ...flags], withFile, (folder) =>
        writeFileSync(join(folder, "data"), new Uint8Array([0, 255]))
      )
      assert.deepStrictEqual(body, {
        mailboxId: ID,
        text: "",
        forwards: ID,
        ...more,
        to: ["carol@outside.example"],
        attachments
      })
    }
  })

  it("fails before anything is sent if the attachments are too large", async () => {
    const large = { ...message, attachments: [{ ...withFile.attachments[0], sizeBytes: 10 * 1024 * 1024 + 1 }] }
    const { count, exit, text } = await forward(large)
    assert.deepStrictEqual([exit, count], [3, 0], text)
    assert.include(text, "larger than 10 MiB")
    const { body } = await forward(large, ["--no-attachments"])
    assert.deepInclude(body, { forwards: ID, forwardAttachments: false })
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

  it("sends 10 MiB", async () => {
    const content = Buffer.alloc(10 * 1024 * 1024, "agentos")
    const { body, exit, text } = await sentBy(
      ["mail", "reply", ID, "--text", "Yes.", "--attach", "large"],
      message,
      (folder) => writeFileSync(join(folder, "large"), content)
    )
    assert.strictEqual(exit, 0, text)
    const { attachments } = body as { attachments: ReadonlyArray<{ contentBase64: string }> }
    assert.isTrue(Buffer.from(attachments[0]!.contentBase64, "base64").equals(content))
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
