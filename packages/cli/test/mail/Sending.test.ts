import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { errorReply, type Reply, useApiDouble } from "../support/ApiDouble.ts"
import { play, removeFolders } from "../support/InProcess.ts"
import { paid } from "../support/PaidAnswers.ts"
import {
  ADDRESS,
  FILE_PATH,
  fileReply,
  ID,
  mailbox,
  message,
  OPERATION,
  selling,
  sent,
  withFile
} from "../support/Samples.ts"

const api = useApiDouble()
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterAll(() => {
  vi.useRealTimers()
  removeFolders()
})

const PAY = ["--yes", "--max-amount", "1"]

/** Runs a command that sends, and returns the message in its payment. */
const sentBy = async (
  args: ReadonlyArray<string>,
  original: object = message,
  prepare?: (folder: string) => void,
  more: Readonly<Record<string, ReadonlyArray<Reply>>> = {}
) => {
  api.seen.length = 0
  const server = {
    ...more,
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
  const forward = (original: object, more: ReadonlyArray<string> = [], file: Reply = fileReply("INVOICE 7\n")) =>
    sentBy(["mail", "forward", ID, "--to", "carol@outside.example", ...more], original, undefined, {
      [`GET ${FILE_PATH}`]: [file]
    })
  const HEADER = [
    "---------- Forwarded message ----------",
    "From: Bob <bob@outside.example>",
    "Date: Sat, 31 Jan 2026 12:00:00 GMT",
    "Subject: Hello",
    `To: ${ADDRESS}`
  ].join("\n")

  it("sends the note, the header, the text and the attachments from the mailbox, in a new thread", async () => {
    const { body } = await forward(withFile, ["--text", "Is this for you?", "--cc", "dan@outside.example"])
    assert.deepStrictEqual(body, {
      mailboxId: ID,
      subject: "Fwd: Hello",
      text: `Is this for you?\n\n${HEADER}\n\nYour code is 482 913.`,
      to: ["carol@outside.example"],
      cc: ["dan@outside.example"],
      attachments: [{ filename: "invoice.txt", contentType: "text/plain", contentBase64: "SU5WT0lDRSA3Cg==" }]
    })
  })

  it("keeps the HTML, with the note and the header as text at its beginning", async () => {
    const html = '<html><head><style>p{}</style></head><body class="x"><p>Code</p></body></html>'
    const { body } = await forward({ ...message, text: null, html }, ["--text", "1 < 2"])
    const { html: sentHtml, text } = body as { html: string; text: string }
    assert.strictEqual(text, `1 < 2\n\n${HEADER}\n\nCode`)
    assert.match(sentHtml, /^<html><head>.*<body class="x"><div>1 &lt; 2<br>/)
    assert.include(sentHtml, "From: Bob &lt;bob@outside.example&gt;<br>")
    assert.isTrue(sentHtml.endsWith("</div>\n<p>Code</p></body></html>"))
  })

  it("does not show the Bcc recipients of a sent message, and repeats no prefix", async () => {
    const { body } = await forward({ ...sent, bcc: ["eve@outside.example"], subject: "FWD: Hello" })
    const { subject, text } = body as { subject: string; text: string }
    assert.strictEqual(subject, "FWD: Hello")
    assert.isTrue(text.startsWith("---------- Forwarded message"))
    assert.notInclude(text, "eve@")
  })

  it("sends names and types of attachments that the service accepts", async () => {
    const [file] = withFile.attachments
    const hostile = { ...file, filename: "../\u001b[2Jevil", contentType: "message/rfc822" }
    const table = { ...file, filename: "a.csv", contentType: 'text/csv; charset=utf-8; note="a; b"' }
    const { body } = await forward({ ...message, attachments: [hostile, table] })
    const { attachments } = body as { attachments: ReadonlyArray<object> }
    assert.deepInclude(attachments[1], { filename: "a.csv", contentType: table.contentType })
    assert.deepInclude(attachments[0], { filename: "__[2Jevil", contentType: "application/octet-stream" })
  })

  it("fails before anything is sent if the attachments are too large or cannot be downloaded", async () => {
    const large = [{ ...withFile.attachments[0], sizeBytes: 10 * 1024 * 1024 + 1 }]
    const cases = [
      [{ ...message, attachments: large }, 3, "larger than 10 MiB"],
      [withFile, 5, "RESOURCE_NOT_FOUND"]
    ] as const
    for (const [original, code, problem] of cases) {
      const { count, exit, text } = await forward(original, [], errorReply(404, "RESOURCE_NOT_FOUND"))
      assert.deepStrictEqual([exit, count], [code, 0], text)
      assert.include(text, problem)
    }
    const { body, exit } = await forward({ ...message, attachments: large }, ["--no-attachments"])
    assert.strictEqual(exit, 0)
    assert.notProperty(body, "attachments")
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
