import { spawnSync } from "node:child_process"
import { hash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { UNDETERMINED } from "../../src/parser/ParserMessage.ts"
import { startParser } from "../../src/parser/ParserProcess.ts"
import { envelope } from "../support/Parser.ts"

const intruder = fileURLToPath(new URL("./intruderMain.ts", import.meta.url))
const digest = fileURLToPath(new URL("./digestMain.ts", import.meta.url))
const withoutFiles = fileURLToPath(new URL("./withoutFilesMain.ts", import.meta.url))
const stuck = fileURLToPath(new URL("./stuckMain.ts", import.meta.url))
const limits = { readMillis: 20_000, processorMillis: 20_000, processorMillisPerMib: 0, heapMegabytes: 256 }
const job = {
  envelope,
  settings: { hostName: "mx.agents.test", dns: { _tag: "Zone", records: [] }, dnsMillis: 200 }
} as const

describe("the process that reads mail", () => {
  it.live(
    "reads only its modules, and has no access to other files, programs, threads, addons or the environment",
    () =>
      Effect.gen(function* () {
        const parser = yield* startParser(limits, intruder)
        const { result } = yield* parser.parse(Stream.empty)
        assert.isTrue(result !== undefined && Result.isFailure(result))
        if (result === undefined || Result.isSuccess(result)) return
        assert.deepStrictEqual(JSON.parse(result.failure.message), {
          "read a file": "ERR_ACCESS_DENIED",
          "list the modules' project": "ERR_ACCESS_DENIED",
          "read the environment of its parent": "ERR_ACCESS_DENIED",
          "write a file": "ERR_ACCESS_DENIED",
          "run a program": "ERR_ACCESS_DENIED",
          "start a thread": "ERR_ACCESS_DENIED",
          "load an addon": "ERR_DLOPEN_DISABLED",
          "read the environment": ""
        })
      }).pipe(Effect.scoped)
  )

  it("is not started while no file can be opened, which ends nothing else", () => {
    const { status, stderr, stdout } = spawnSync("sh", [
      "-c",
      `ulimit -n 64 && exec "${process.execPath}" "${withoutFiles}"`
    ])
    assert.deepStrictEqual([stdout.toString(), stderr.toString(), status], ["Failure\n", "", 0])
  })

  it.live("receives mails unchanged, whatever their pieces, also while their pieces alternate", () =>
    Effect.gen(function* () {
      const parser = yield* startParser(limits, digest)
      const mails = [0, 1, 9, 65_536, 300_003, 3_000_000].map((bytes) => Buffer.alloc(bytes, "0123456789"))
      const outcomes = yield* Effect.forEach(
        mails.flatMap((mail) => [1, 7, 1_000].map((pieces) => ({ mail, pieceBytes: Math.ceil(mail.length / pieces) }))),
        ({ mail, pieceBytes }) =>
          parser.parse(
            Stream.unfold(0, (at) =>
              Effect.succeed(
                at < mail.length ? ([mail.subarray(at, at + pieceBytes), at + pieceBytes] as const) : undefined
              )
            )
          ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        outcomes.map(({ result }) => result && Result.isFailure(result) && result.failure.message),
        mails
          .map((mail) => `Read ${mail.length} ${hash("sha256", mail)}`)
          .flatMap((message) => [message, message, message])
      )
    }).pipe(Effect.scoped)
  )

  const failureOf = (given: Partial<typeof limits>, mail: string) =>
    Effect.gen(function* () {
      const parser = yield* startParser({ ...limits, ...given }, stuck)
      const { result, reusable } = yield* parser.parse(Stream.make(Buffer.from(mail)))
      return [result && Result.isFailure(result) && result.failure.message, reusable]
    }).pipe(Effect.scoped)

  it.live("is given up when a mail takes more than its processor time", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* failureOf({ processorMillis: 300 }, "work"), [
        "reading it took more than 300 ms of processor time",
        false
      ])
    })
  )

  it.live("is given up when a mail takes too long", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* failureOf({ readMillis: 500 }, "wait"), [
        "reading it took longer than 500 ms",
        false
      ])
    })
  )

  it.live("is ended by a sender check that takes too long, and leaves the other checks without a result", () =>
    Effect.gen(function* () {
      const parser = yield* startParser(limits, stuck)
      const check = (dnsMillis: number) =>
        parser.authenticate(Stream.make(Buffer.from("work")), { ...job, settings: { ...job.settings, dnsMillis } })
      const outcomes = yield* Effect.all([check(200), check(60_000)], { concurrency: "unbounded" })
      assert.deepStrictEqual(outcomes, [
        { result: UNDETERMINED, reusable: false },
        { result: undefined, reusable: false }
      ])
    }).pipe(Effect.scoped)
  )
})
