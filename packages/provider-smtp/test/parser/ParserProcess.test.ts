import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { startParser } from "../../src/parser/ParserProcess.ts"
import { envelope } from "../support/Parser.ts"

const intruder = fileURLToPath(new URL("./intruderMain.ts", import.meta.url))
const job = {
  envelope,
  settings: { hostName: "mx.agents.test", dns: { _tag: "Zone", records: [] }, dnsMillis: 5_000 }
} as const

describe("the process that reads mail", () => {
  it.live(
    "reads only its modules, and has no access to other files, programs, threads, addons or the environment",
    () =>
      Effect.gen(function* () {
        const parser = yield* startParser({ readMillis: 20_000, heapMegabytes: 256 }, intruder)
        const { result } = yield* parser.parse(Stream.empty, job)
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
})
