import { closeSync, openSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SharedReader, type SharedReaderOptions } from "../src/SharedReader.ts"
import { envelope, HEADER } from "./support/Parser.ts"

const stuck = fileURLToPath(new URL("./parser/stuckMain.ts", import.meta.url))

const opened = (given: Partial<SharedReaderOptions> = {}) =>
  Effect.acquireRelease(
    Effect.sync(
      () =>
        new SharedReader({
          limits: { readMillis: 20_000, processorMillis: 20_000, processorMillisPerMib: 0, heapMegabytes: 256 },
          settings: { hostName: "mx.agents.test", dns: { _tag: "Zone", records: [] }, dnsMillis: 20_000 },
          idleMillis: 30_000,
          ...given
        })
    ),
    (reader) => Effect.sync(() => reader.close())
  )

const NETWORKS = ["192.0.2.0/24", "198.51.100.0/24"]

const readAll = (reader: SharedReader, mails: ReadonlyArray<string>) =>
  Effect.forEach(mails, (mail, at) => reader.read(Buffer.from(mail), NETWORKS[at % 2]!, envelope), {
    concurrency: "unbounded"
  })

describe("the process that small mails share", () => {
  it.live("answers each of many mails, and checks its sender", () =>
    Effect.gen(function* () {
      const reader = yield* opened()
      const outcomes = yield* readAll(
        reader,
        Array.from({ length: 50 }, (_, at) => `Subject: mail ${at}\r\n${HEADER.replace("Subject: hello\r\n", "")}\r\nx`)
      )
      const read = outcomes.map((outcome) => outcome && Result.getOrThrow(outcome))
      assert.deepStrictEqual(
        read.map((mail) => mail?.content.subject),
        Array.from({ length: 50 }, (_, at) => `mail ${at}`)
      )
      assert.isTrue(read.every((mail) => mail?.authentication?.dmarc === "none"))
    }).pipe(Effect.scoped)
  )

  it.live(
    "is ended by a mail that keeps it from answering, leaves the others without an outcome, and is replaced",
    () =>
      Effect.gen(function* () {
        const reader = yield* opened({ mainFile: stuck })
        assert.deepStrictEqual(yield* readAll(reader, ["x", "work", "y"]), [undefined, undefined, undefined])
        assert.deepStrictEqual(yield* readAll(reader, ["x", "work"]), [undefined, undefined])
      }).pipe(Effect.scoped)
  )

  it.live("is ended once if the reader of its last answer ends it, and closes no other file later", () =>
    Effect.gen(function* () {
      const reader = yield* opened({ idleMillis: 1 })
      yield* Effect.callback<void>((resume) => {
        Effect.runFork(reader.read(Buffer.from("x"), NETWORKS[0]!, envelope)).addObserver(() => {
          reader.close()
          resume(Effect.void)
        })
      })
      // The system gives the lowest free number to a new file.
      const files = Array.from({ length: 8 }, () => openSync(stuck, "r"))
      yield* Effect.sleep("2 millis")
      for (const file of files) closeSync(file)
    }).pipe(Effect.scoped)
  )

  it.live("is ended if it answers nothing in the time of all lookups", () =>
    Effect.gen(function* () {
      const reader = yield* opened({ mainFile: stuck })
      assert.deepStrictEqual(yield* readAll(reader, ["x"]), [undefined])
    }).pipe(Effect.scoped)
  )
})
