import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { distinctFileNames, safeFileName } from "../../src/file/Download.ts"
import { type Reply, useApiDouble } from "../support/ApiDouble.ts"
import { play, type Reader, removeFolders } from "../support/InProcess.ts"
import { FILE_PATH, fileReply, ID, message, withFile } from "../support/Samples.ts"

const api = useApiDouble()
beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterAll(() => {
  vi.useRealTimers()
  removeFolders()
})

/** Bytes that are not text, with all values and line ends of each kind. */
const BYTES = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), Buffer.from("\r\n.\n\r")])
const [FILE] = withFile.attachments
const other = { ...FILE!, attachmentId: "0190f3c2-0000-8000-8000-000000000002" }

interface Run {
  readonly attachments?: ReadonlyArray<object>
  readonly reader?: Reader
  readonly prepare?: (folder: string) => void
  readonly content?: Buffer
}

/** Runs a command about a message with attachments, and returns its folder too. */
const run = async (args: ReadonlyArray<string>, given: Run = {}) => {
  const { attachments = withFile.attachments, content = BYTES, prepare, reader = "program" } = given
  let folder = ""
  const file = fileReply(content)
  const server: Record<string, ReadonlyArray<Reply>> = {
    "GET /api/v1/email/messages/query": [{ data: { message: { ...message, attachments } } }],
    [`GET ${FILE_PATH}`]: [file],
    [`GET ${FILE_PATH.replace(FILE!.attachmentId, other.attachmentId)}`]: [fileReply(Buffer.from("the other"))],
    [`GET /api/v1/email/messages/${ID}/raw`]: [file]
  }
  const scene = {
    args,
    exit: 0,
    server,
    prepare: (home: string) => {
      folder = home
      prepare?.(home)
    }
  }
  return { ...(await play(api, scene, reader)), folder }
}

const ALL = ["mail", "attachments", ID]
const RAW = ["mail", "raw", ID]

describe("mail attachments", () => {
  it("takes the newest received message for latest, and not one's own reply", async () => {
    api.seen.splice(0)
    const list = { data: { items: [{ ...message, attachments: withFile.attachments }], nextCursor: null } }
    const detail = { data: { message: { ...message, attachments: withFile.attachments } } }
    const server = { "GET /api/v1/email/messages/query": [list, detail] }
    const { exit, text } = await play(api, { args: ["mail", "attachments", "latest"], exit: 0, server }, "program")
    assert.strictEqual(exit, 0, text)
    const { searchParams } = new URL(api.seen[0]!.url, "http://a.test")
    assert.deepStrictEqual([searchParams.get("limit"), searchParams.get("direction")], ["1", "inbound"])
  })

  it("saves all in a folder, byte for byte, and numbers equal names", async () => {
    const names = ["a.txt", "A.TXT", "a.txt", null]
    const attachments = names.map((filename, index) => ({ ...(index === 1 ? other : FILE!), filename }))
    const { exit, folder, text } = await run([...ALL, "--download", "new/files"], { attachments })
    assert.strictEqual(exit, 0, text)
    const saved = (name: string) => readFileSync(join(folder, "new", "files", name))
    assert.sameMembers(readdirSync(join(folder, "new", "files")), ["a.txt", "A (2).TXT", "a (3).txt", "attachment"])
    assert.isTrue(saved("a.txt").equals(BYTES))
    assert.strictEqual(saved("A (2).TXT").toString(), "the other")
  })

  it("replaces files only with --clobber, and downloads nothing before it fails", async () => {
    const prepare = (folder: string) => writeFileSync(join(folder, "invoice.txt"), "mine")
    const args = [...ALL, "--download", "."]
    api.seen.length = 0
    const refused = await run(args, { prepare })
    assert.strictEqual(refused.exit, 6)
    assert.include(refused.text, "invoice.txt already exists. Use --clobber")
    assert.lengthOf(api.seen, 1)
    assert.strictEqual(readFileSync(join(refused.folder, "invoice.txt"), "utf8"), "mine")
    const { exit, folder } = await run([...args, "--clobber"], { prepare })
    assert.strictEqual(exit, 0)
    assert.isTrue(readFileSync(join(folder, "invoice.txt")).equals(BYTES))
  })

  it("never writes outside the folder", async () => {
    const names = ["../outside", "/etc/outside", "..\\outside", "a/../../outside", "..", ".", "", ".bashrc"]
    const attachments = names.map((filename) => ({ ...FILE!, filename }))
    const { exit, folder } = await run([...ALL, "-D", "inside"], { attachments })
    assert.strictEqual(exit, 0)
    assert.lengthOf(readdirSync(join(folder, "inside")), names.length)
    for (const name of readdirSync(join(folder, "inside"))) assert.notMatch(name, /^\.|[/\\]/)
    assert.deepStrictEqual(readdirSync(folder), ["inside"])
  })

  it("does not follow a link that has the name of an attachment", async () => {
    const { exit, folder } = await run([...ALL, "-D", "."], {
      prepare: (home) => symlinkSync(join(home, "target"), join(home, "invoice.txt"))
    })
    assert.strictEqual(exit, 6)
    assert.isFalse(existsSync(join(folder, "target")))
  })

  it("saves or prints one by id or file name", async () => {
    const saved = await run([...ALL, "invoice.txt", "-o", "mine.txt"])
    assert.strictEqual(saved.exit, 0, saved.text)
    assert.isTrue(readFileSync(join(saved.folder, "mine.txt")).equals(BYTES))
    const printed = await run([...ALL, FILE!.attachmentId, "--output", "-"])
    assert.isTrue(printed.stdout.equals(BYTES))
    const attachments = [FILE!, other]
    assert.strictEqual((await run([...ALL, "invoice.txt", "-o", "-"], { attachments })).exit, 3)
    assert.strictEqual((await run([...ALL, "missing.txt", "-o", "-"])).exit, 5)
  })

  it("rejects contradictory flags before any request", async () => {
    api.seen.length = 0
    const wrong = [
      ["-D", ".", "x", "-o", "y"],
      ["-o", "x"],
      ["x", "-o", "-", "--json"]
    ]
    for (const more of wrong) assert.strictEqual((await run([...ALL, ...more])).exit, 3)
    assert.lengthOf(api.seen, 0)
  })

  it("shows names of strangers without control characters", async () => {
    const attachments = [{ ...FILE!, filename: "a\u001b[2J\u202etxt.exe", contentType: "\u001b]0;x\u0007" }]
    const { text } = await run(ALL, { attachments, reader: "person" })
    assert.notMatch(text, /[\u001b\u0007\u202e]/)
  })
})

describe("mail raw", () => {
  it("prints the bytes of the message exactly", async () => {
    const { exit, stdout } = await run(RAW)
    assert.strictEqual(exit, 0)
    assert.isTrue(stdout.equals(BYTES))
  })

  it("saves the bytes, and replaces a file only with --clobber", async () => {
    const prepare = (folder: string) => writeFileSync(join(folder, "m.eml"), "mine")
    assert.strictEqual((await run([...RAW, "-o", "m.eml"], { prepare })).exit, 6)
    const { folder } = await run([...RAW, "-o", "m.eml", "--clobber"], { prepare })
    assert.isTrue(readFileSync(join(folder, "m.eml")).equals(BYTES))
    const unwritable = await run([...RAW, "-o", "folder"], { prepare: (home) => mkdirSync(join(home, "folder")) })
    assert.strictEqual(unwritable.exit, 6)
  })

  it("sends no control characters to a terminal, and nothing that is not text", async () => {
    const hostile = Buffer.from("Subject: \u001b[2Jx\r\n\r\n\u009b31mred\r\n")
    const { stdout } = await run(RAW, { reader: "person", content: hostile })
    assert.strictEqual(stdout.toString(), "Subject: \ufffd[2Jx\n\n\ufffd31mred\n")
    const binary = await run(RAW, { reader: "person" })
    assert.deepStrictEqual([binary.exit, binary.stdout.length], [3, 0])
  })
})

describe("safeFileName", () => {
  it("keeps usual names", () => {
    for (const name of ["invoice.pdf", "Größe 1.tar.gz", "報告書.docx", "a(1).b-c_d+e,f"])
      assert.strictEqual(safeFileName(name), name)
  })

  it("replaces characters and names that are unsafe on some system", () => {
    const names: ReadonlyArray<readonly [given: string | null, safe: string]> = [
      [null, "attachment"],
      ["...", "attachment"],
      ["a\u0000b\u202ec", "a_b_c"],
      ['a<b>:"|?*', "a_b______"],
      ["NUL", "_NUL"],
      ["con.txt", "_con.txt"],
      ["name. ", "name"],
      ["\ud800x", "_x"]
    ]
    for (const [given, safe] of names) assert.strictEqual(safeFileName(given), safe)
  })

  it("cuts long names before their extension", () => {
    const safe = safeFileName(`${"ü".repeat(300)}.pdf`)
    assert.isAtMost(Buffer.byteLength(safe), 240)
    assert.match(safe, /^ü+\.pdf$/)
    const [first, second] = distinctFileNames([`${"x".repeat(300)}.pdf`, `${"x".repeat(300)}.pdf`])
    assert.notStrictEqual(first, second)
    assert.isAtMost(Buffer.byteLength(second!), 255)
  })
})
