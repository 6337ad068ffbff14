import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { execFileSync } from "node:child_process"
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { once } from "node:events"
import { randomBytes } from "node:crypto"
import { Writable } from "node:stream"
import { afterAll, beforeAll } from "vitest"
import { writeZipFile } from "../../src/output/NewFile.ts"
import { writeZip, type ZipEntry } from "../../src/output/ZipFile.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "agentos-zip-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

async function* chunked(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function* entriesOf(files: ReadonlyMap<string, Uint8Array>): AsyncGenerator<ZipEntry> {
  for (const [path, bytes] of files) yield { path, bytes: chunked(bytes) }
}

/** Runs a line of Python on an open archive. */
const python = (script: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("python3", [
    "-c",
    `import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); ${script}`,
    ...args
  ]).toString()

const write = async (name: string, files: ReadonlyMap<string, Uint8Array>) => {
  const path = join(folder, name)
  const file = createWriteStream(path)
  assert.strictEqual(await writeZip(entriesOf(files), file), files.size)
  file.end()
  await once(file, "close")
  return path
}

describe("a ZIP file", () => {
  it("has each file byte for byte for another reader, whatever its size and name", async () => {
    const files = new Map<string, Uint8Array>([
      ["empty.jsonl", new Uint8Array()],
      ["messages/Zürich 👋.eml", Buffer.from("Subject: Grüezi\r\n\r\nHello\r\n")],
      ["attachments/0", randomBytes(3 * 1024 * 1024)],
      ["zeros", new Uint8Array(5 * 1024 * 1024)]
    ])
    const path = await write("few.zip", files)
    python("z.testzip() and sys.exit('damaged'); z.extractall(sys.argv[2])", path, join(folder, "few"))
    for (const [name, bytes] of files) {
      assert.isTrue(readFileSync(join(folder, "few", name)).equals(bytes), name)
    }
  })

  it("fails with the error of a file that can't be read, and reads no further", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("begin")
      throw new Error("deleted meanwhile")
    }
    let isRead = false
    async function* entries(): AsyncGenerator<ZipEntry> {
      yield { path: "one", bytes: broken() }
      isRead = true
      yield { path: "two", bytes: chunked(Buffer.from("two")) }
    }
    const sink = new Writable({ write: (_chunk, _encoding, done) => done() })
    const failure = await writeZip(entries(), sink).then(
      () => "no failure",
      (error: unknown) => String(error)
    )
    assert.include(failure, "deleted meanwhile")
    assert.isFalse(isRead)
  })

  it("fails with the error of the output, and closes the file that it reads", async () => {
    let isClosed = false
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield randomBytes(64 * 1024)
      } finally {
        isClosed = true
      }
    }
    async function* entries(): AsyncGenerator<ZipEntry> {
      yield { path: "one", bytes: endless() }
    }
    const full = new Writable({ write: (_chunk, _encoding, done) => done(new Error("no space left")) })
    const failure = await writeZip(entries(), full).then(
      () => "no failure",
      (error: unknown) => String(error)
    )
    assert.include(failure, "no space left")
    assert.isTrue(isClosed)
  })
})

describe("a new file with an archive", () => {
  const failing = async function* (): AsyncGenerator<ZipEntry> {
    yield { path: "a", bytes: chunked(randomBytes(200_000)) }
    throw new Error("a text of the tenant")
  }
  const notWritten = (path: string, entries: AsyncIterable<ZipEntry>) =>
    Effect.runPromise(Effect.flip(writeZipFile(path, entries)).pipe(Effect.provide(Logger.layer([]))))

  it("is removed if the data ends early, without naming the data", async () => {
    const path = join(folder, "part.zip")
    assert.strictEqual((await notWritten(path, failing())).message, `${path} was not written: the data was not read.`)
    assert.isFalse(existsSync(path))
  })

  it("says why it can't be made, and leaves the file of another program", async () => {
    const path = join(folder, "other.zip")
    writeFileSync(path, "other")
    assert.include((await notWritten(path, entriesOf(new Map()))).message, "EEXIST")
    assert.strictEqual(readFileSync(path, "utf8"), "other")
    assert.include((await notWritten(join(folder, "no/such.zip"), entriesOf(new Map()))).message, "ENOENT")
  })
})
