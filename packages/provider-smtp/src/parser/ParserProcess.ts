import { type ChildProcess, fork } from "node:child_process"
import { readFileSync } from "node:fs"
import { MailUnreadable, type SenderAuthentication } from "@agentos/core"
import { Deferred, Effect, Exit, Option, Result, type Scope, Stream } from "effect"
import { PARSER_MAIN, parserFiles } from "./ParserFiles.ts"
import {
  type ParserAnswer,
  type ParserJob,
  type ParserReply,
  type ParserRequest,
  UNDETERMINED
} from "./ParserMessage.ts"
import type { MailContent } from "./ReadMail.ts"

const START_MILLIS = 20_000
/** Processor time that the sender checks may take beyond their wait for the DNS. */
const AUTHENTICATION_GRACE_MILLIS = 1_000
/** After a mail of at least this size, a process retains much of the memory that it used. */
const FRESH_AFTER_BYTES = 4 * 1024 * 1024
/** How often the processor time of a process is compared with the budget of its mail. */
const BUDGET_INTERVAL_MILLIS = 250
const MIB = 1024 * 1024

export interface ParserProcessLimits {
  /** Time limit for reading one mail. */
  readonly readMillis: number
  /** Budget of processor time for reading one mail: for any mail, and for each MiB. */
  readonly processorMillis: number
  readonly processorMillisPerMib: number
  /** The JavaScript heap; memory outside it is proportional to the size of the mail. */
  readonly heapMegabytes: number
}

/** The outcome of one mail in a process. */
export interface ParserOutcome<A> {
  /** Undefined if the process ended, and the mail was not the only one in it. */
  readonly result: A | undefined
  /** True if the process is ready for the next mail. Otherwise its scope must be closed to end it. */
  readonly reusable: boolean
}

/** A process that reads mail, one after the other, or that checks senders, many at a time. */
export interface ParserProcess {
  /** Unless it succeeds, the process has an unfinished mail and is not reusable. */
  readonly parse: (
    raw: Stream.Stream<Uint8Array>
  ) => Effect.Effect<ParserOutcome<Result.Result<MailContent, MailUnreadable>>>
  readonly authenticate: (
    raw: Stream.Stream<Uint8Array>,
    job: ParserJob
  ) => Effect.Effect<ParserOutcome<SenderAuthentication>>
}

/**
 * Node's permission model restricts the process to reading its own modules: not this process's environment in
 * /proc, and no other file. It cannot write, start programs or threads, or load addons. It may use the network
 * for DNS lookups.
 */
const startChild = (mainFile: string, heapMegabytes: number): ChildProcess =>
  fork(mainFile, [], {
    env: {},
    execArgv: [
      `--max-old-space-size=${heapMegabytes}`,
      // Most memory of a mail is freed at once: a small young generation makes a process a quarter smaller.
      "--max-semi-space-size=1",
      "--permission",
      ...parserFiles().map((path) => `--allow-fs-read=${path}`),
      "--no-warnings"
    ],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"]
  })

const ENDED = "reading it ended the process, most likely for want of memory"

const unreadable = (message: string) => new MailUnreadable({ message })

/** Returns the processor time that a process has used, in milliseconds; undefined where the system does not tell. */
const processorMillisOf = (pid: number | undefined): number | undefined => {
  try {
    // proc(5): the fields after the name in parentheses. Linux counts in ticks of 10 ms.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ")
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return undefined
  }
}

/**
 * Starts a process and waits until it is ready; kills it by SIGKILL when the scope closes. A mail that takes too long or
 * too much processor time, or ends the process by its use of memory, is `MailUnreadable`. A failure to start the process
 * is a defect, since no mail has caused it. A different `mainFile` must reply like `parserMain.ts`, and has the same
 * permissions.
 */
export const startParser = (
  limits: ParserProcessLimits,
  mainFile: string = PARSER_MAIN
): Effect.Effect<ParserProcess, never, Scope.Scope> =>
  Effect.gen(function* () {
    const started = yield* Deferred.make<void>()
    /** What receives the answer for each mail in the process; undefined if the process ends. */
    const pending = new Map<number, Deferred.Deferred<ParserAnswer | undefined>>()
    let ended = false
    let lastId = 0

    const onReply = (reply: ParserReply): void => {
      if (reply._tag === "Ready") return void Deferred.doneUnsafe(started, Exit.void)
      const waiting = pending.get(reply.id)
      if (waiting !== undefined) Deferred.doneUnsafe(waiting, Exit.succeed(reply.answer))
    }
    const onEnd = (): void => {
      ended = true
      Deferred.doneUnsafe(started, Exit.die(new Error("the process that reads mail ended as it started")))
      for (const waiting of pending.values()) Deferred.doneUnsafe(waiting, Exit.succeed(undefined))
    }

    const child = yield* Effect.acquireRelease(
      Effect.sync(() => startChild(mainFile, limits.heapMegabytes)),
      (running) => Effect.sync(() => void running.kill("SIGKILL"))
    )
    child.on("message", onReply)
    child.on("error", onEnd)
    child.on("exit", onEnd)
    yield* Effect.orDie(Effect.timeout(Deferred.await(started), START_MILLIS))

    /** Resolves once the process accepts more. Fails with `MailUnreadable` if it has ended or does not read. */
    const send = (request: ParserRequest) =>
      Effect.callback<void, MailUnreadable>((resume) => {
        child.send(request, (error) => {
          if (error !== null) onEnd()
          resume(error === null ? Effect.void : Effect.fail(unreadable(ENDED)))
        })
      }).pipe(
        Effect.timeoutOrElse({
          duration: limits.readMillis,
          orElse: () => Effect.fail(unreadable(`the process did not take it within ${limits.readMillis} ms`))
        })
      )

    /** Sends a mail with what to do with it. Returns what receives the answer, and the size of the mail. */
    const begin = Effect.fnUntraced(function* (
      id: number,
      raw: Stream.Stream<Uint8Array>,
      task: { readonly _tag: "Read" } | { readonly _tag: "CheckSender"; readonly job: ParserJob }
    ) {
      const answer = yield* Deferred.make<ParserAnswer | undefined>()
      pending.set(id, answer)
      let sizeBytes = 0
      let last: Uint8Array | undefined
      yield* Stream.runForEach(raw, (bytes) => {
        const before = last
        last = bytes
        sizeBytes += bytes.length
        return before === undefined ? Effect.void : send({ _tag: "Piece", id, bytes: before })
      })
      yield* send({ ...task, id, bytes: last ?? new Uint8Array() })
      return { answer, sizeBytes }
    })

    /** Resolves when the process has used more than the budget of a mail. */
    const exceeded = Effect.fnUntraced(function* (sizeBytes: number) {
      const budget = limits.processorMillis + limits.processorMillisPerMib * (sizeBytes / MIB)
      const start = processorMillisOf(child.pid) ?? 0
      do yield* Effect.sleep(BUDGET_INTERVAL_MILLIS)
      while ((processorMillisOf(child.pid) ?? 0) - start <= budget)
      return {
        _tag: "Unreadable",
        message: `reading it took more than ${Math.ceil(budget)} ms of processor time`
      } as const
    })

    const isUsable = () => !ended && child.connected

    const parser: ParserProcess = {
      authenticate: (raw, job) =>
        Effect.suspend((): Effect.Effect<ParserOutcome<SenderAuthentication>> => {
          if (!isUsable()) return Effect.succeed({ result: undefined, reusable: false })
          const id = ++lastId
          return Effect.gen(function* () {
            const sent = yield* Effect.result(begin(id, raw, { _tag: "CheckSender", job }))
            if (Result.isFailure(sent)) return { result: undefined, reusable: false }
            const { answer, sizeBytes } = sent.success
            const authenticated = yield* Effect.timeoutOption(
              Deferred.await(answer),
              job.settings.dnsMillis + AUTHENTICATION_GRACE_MILLIS
            )
            // Lookups end in time, so a mail keeps the process from everything else.
            if (Option.isNone(authenticated)) yield* Effect.sync(() => child.kill("SIGKILL"))
            const result = Option.getOrElse(authenticated, () => undefined)
            return {
              result: Option.isNone(authenticated)
                ? UNDETERMINED
                : result?._tag === "Authentication"
                  ? result.authentication
                  : undefined,
              reusable: isUsable() && Option.isSome(authenticated) && sizeBytes < FRESH_AFTER_BYTES
            }
          }).pipe(
            Effect.onError(() => Effect.ignore(send({ _tag: "Cancel", id }))),
            Effect.ensuring(Effect.sync(() => pending.delete(id)))
          )
        }),
      parse: (raw) =>
        Effect.suspend((): ReturnType<ParserProcess["parse"]> => {
          if (!isUsable()) return Effect.succeed({ result: undefined, reusable: false })
          const id = ++lastId
          return Effect.gen(function* () {
            const sent = yield* Effect.result(begin(id, raw, { _tag: "Read" }))
            if (Result.isFailure(sent)) return { result: Result.fail(sent.failure), reusable: false }
            const { answer, sizeBytes } = sent.success
            const read = yield* Deferred.await(answer).pipe(
              Effect.raceFirst(exceeded(sizeBytes)),
              Effect.timeoutOrElse({
                duration: limits.readMillis,
                orElse: () =>
                  Effect.succeed({
                    _tag: "Unreadable",
                    message: `reading it took longer than ${limits.readMillis} ms`
                  } as const)
              })
            )
            const isAnswered = yield* Deferred.isDone(answer)
            const reusable = isUsable() && isAnswered && sizeBytes < FRESH_AFTER_BYTES
            if (read?._tag === "Content") return { result: Result.succeed(read.content), reusable }
            const failure = unreadable(read?._tag === "Unreadable" ? read.message : ENDED)
            return { result: Result.fail(failure), reusable }
          }).pipe(Effect.ensuring(Effect.sync(() => pending.delete(id))))
        })
    }
    return parser
  })
