import { type ChildProcess, fork } from "node:child_process"
import { closeSync, openSync, readSync } from "node:fs"
import type { Writable } from "node:stream"
import { MailUnreadable, type SenderAuthentication } from "@agentos/core"
import { Deferred, Effect, Exit, Result, type Scope, Stream } from "effect"
import { MAIL_FILE, writePiece, writeRequest } from "./MailPipe.ts"
import { PARSER_MAIN, parserFiles } from "./ParserFiles.ts"
import { type MailRequest, type ParserAnswer, type ParserJob, type ParserReply, UNDETERMINED } from "./ParserMessage.ts"
import type { MailContent } from "./ReadMail.ts"

export const START_MILLIS = 20_000
/** Processor time that the sender checks may take beyond their wait for the DNS. */
export const AUTHENTICATION_GRACE_MILLIS = 1_000
/** After a mail of at least this size, a process retains much of the memory that it used. */
const FRESH_AFTER_BYTES = 4 * 1024 * 1024
/** How often the time and the processor time of a mail are compared with their limits. */
export const WATCH_INTERVAL_MILLIS = 250
const MIB = 1024 * 1024
const INITIAL_HEAP_MEGABYTES = 64

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
export const startChild = (mainFile: string, heapMegabytes: number): ChildProcess => {
  const child = fork(mainFile, [], {
    env: {},
    execArgv: [
      `--max-old-space-size=${heapMegabytes}`,
      // Most memory of a mail is freed at once: a small young generation makes a process a quarter smaller.
      "--max-semi-space-size=1",
      // The bytes of mails count as its heap. With V8's first limit, a full collection would follow every few large mails.
      `--initial-heap-size=${INITIAL_HEAP_MEGABYTES}`,
      "--permission",
      ...parserFiles().map((path) => `--allow-fs-read=${path}`),
      "--no-warnings"
    ],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc", "pipe"]
  })
  // Each write reports its own error. A process that could not be started for want of files has no pipes.
  const { stdio }: Partial<Pick<ChildProcess, "stdio">> = child
  stdio?.[MAIL_FILE]?.on("error", () => undefined)
  return child
}

const ENDED = "reading it ended the process, most likely for want of memory"

const unreadable = (message: string) => new MailUnreadable({ message })

/** Reads the processor time of a process. */
export interface ProcessorClock {
  /** Returns the processor time used so far, in milliseconds; undefined where the system does not tell. */
  readonly millis: () => number | undefined
  readonly close: () => void
}

const NO_CLOCK: ProcessorClock = { millis: () => undefined, close: () => undefined }

/** Keeps the file open: opening it takes four times as long as reading it, which each mail requires. */
export const openProcessorClock = (pid: number | undefined): ProcessorClock => {
  const line = Buffer.alloc(1024)
  try {
    const file = openSync(`/proc/${pid}/stat`, "r")
    return {
      millis: () => {
        try {
          // proc(5): the fields after the name in parentheses. Linux counts in ticks of 10 ms.
          const fields = line
            .toString("latin1", 0, readSync(file, line, 0, line.length, 0))
            .split(") ")
            .at(-1)!
            .split(" ")
          return (Number(fields[11]) + Number(fields[12])) * 10
        } catch {
          return undefined
        }
      },
      close: () => closeSync(file)
    }
  } catch {
    return NO_CLOCK
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
    const pending = new Map<number, (answer: ParserAnswer | undefined) => void>()
    let ended = false
    let lastId = 0

    const onReply = (reply: ParserReply): void => {
      if (reply._tag === "Ready") Deferred.doneUnsafe(started, Exit.void)
      else if (reply._tag === "Answer") pending.get(reply.id)?.(reply.answer)
    }
    const onEnd = (): void => {
      ended = true
      Deferred.doneUnsafe(started, Exit.die(new Error("the process that reads mail ended as it started")))
      for (const answer of pending.values()) answer(undefined)
    }

    const child = yield* Effect.acquireRelease(
      Effect.sync(() => startChild(mainFile, limits.heapMegabytes)),
      (running) => Effect.sync(() => void running.kill("SIGKILL"))
    )
    const clock = yield* Effect.acquireRelease(
      Effect.sync(() => openProcessorClock(child.pid)),
      ({ close }) => Effect.sync(close)
    )
    child.on("message", onReply)
    child.on("error", onEnd)
    child.on("exit", onEnd)
    yield* Effect.orDie(Effect.timeout(Deferred.await(started), START_MILLIS))

    const pipe = child.stdio[MAIL_FILE] as Writable
    const endOnError = (error?: Error | null) => {
      if (error) onEnd()
    }

    /** Resolves once the process accepts more. Fails with `MailUnreadable` if it has ended or does not read. */
    const sendPiece = (id: number, piece: Uint8Array) =>
      Effect.callback<void, MailUnreadable>((resume) =>
        writePiece(pipe, id, piece, (error) => resume(error ? Effect.fail(unreadable(ENDED)) : Effect.void))
      ).pipe(
        Effect.timeoutOrElse({
          duration: limits.readMillis,
          orElse: () => Effect.fail(unreadable(`the process did not take it within ${limits.readMillis} ms`))
        })
      )

    /** Returns the size of the mail. */
    const sendAll = Effect.fnUntraced(function* (id: number, raw: Stream.Stream<Uint8Array>) {
      let sizeBytes = 0
      yield* Stream.runForEach(raw, (piece) => {
        sizeBytes += piece.length
        return sendPiece(id, piece)
      })
      return sizeBytes
    })

    /**
     * Sends a request about a mail, and resolves to its answer; to undefined if the process ends. `overdue` is called at
     * intervals with the milliseconds since then. Its result, if there is one, replaces the answer.
     */
    const ask = <A>(id: number, request: MailRequest, overdue: (elapsedMillis: number) => A | undefined) =>
      Effect.callback<ParserAnswer | A | undefined>((resume) => {
        let elapsedMillis = 0
        const end = () => {
          clearInterval(timer)
          pending.delete(id)
        }
        const answer = (given: ParserAnswer | A | undefined) => {
          end()
          resume(Effect.succeed(given))
        }
        const timer = setInterval(() => {
          elapsedMillis += WATCH_INTERVAL_MILLIS
          const given = overdue(elapsedMillis)
          if (given !== undefined) answer(given)
        }, WATCH_INTERVAL_MILLIS)
        pending.set(id, answer)
        writeRequest(pipe, id, request, endOnError)
        return Effect.sync(end)
      })

    const isUsable = () => !ended && child.connected

    /** Returns what decides that reading a mail takes too long, or too much processor time. */
    const overdueReading = (sizeBytes: number) => {
      const budget = limits.processorMillis + limits.processorMillisPerMib * (sizeBytes / MIB)
      const start = clock.millis() ?? 0
      return (elapsedMillis: number): ParserAnswer | undefined => {
        if ((clock.millis() ?? 0) - start > budget) {
          const message = `reading it took more than ${Math.ceil(budget)} ms of processor time`
          return { _tag: "Unreadable", message }
        }
        if (elapsedMillis < limits.readMillis) return undefined
        return { _tag: "Unreadable", message: `reading it took longer than ${limits.readMillis} ms` }
      }
    }

    const parser: ParserProcess = {
      authenticate: (raw, job) =>
        Effect.suspend((): Effect.Effect<ParserOutcome<SenderAuthentication>> => {
          if (!isUsable()) return Effect.succeed({ result: undefined, reusable: false })
          const id = ++lastId
          const limitMillis = job.settings.dnsMillis + AUTHENTICATION_GRACE_MILLIS
          return Effect.gen(function* () {
            const sent = yield* Effect.result(sendAll(id, raw))
            if (Result.isFailure(sent)) return { result: undefined, reusable: false }
            const sizeBytes = sent.success
            const answer = yield* ask(id, { _tag: "CheckSender", job }, (elapsedMillis) =>
              elapsedMillis < limitMillis ? undefined : "late"
            )
            // Lookups end in time, so a mail keeps the process from everything else.
            if (answer === "late") child.kill("SIGKILL")
            return {
              result:
                answer === "late"
                  ? UNDETERMINED
                  : answer?._tag === "Authentication"
                    ? answer.authentication
                    : undefined,
              reusable: isUsable() && answer !== "late" && sizeBytes < FRESH_AFTER_BYTES
            }
          }).pipe(Effect.onError(() => Effect.sync(() => writeRequest(pipe, id, { _tag: "Cancel" }, endOnError))))
        }),
      parse: (raw) =>
        Effect.suspend((): ReturnType<ParserProcess["parse"]> => {
          if (!isUsable()) return Effect.succeed({ result: undefined, reusable: false })
          const id = ++lastId
          return Effect.gen(function* () {
            const sent = yield* Effect.result(sendAll(id, raw))
            if (Result.isFailure(sent)) return { result: Result.fail(sent.failure), reusable: false }
            const sizeBytes = sent.success
            let isOverdue = false
            const overdue = overdueReading(sizeBytes)
            const read = yield* ask(id, { _tag: "Read" }, (elapsedMillis) => {
              const failure = overdue(elapsedMillis)
              isOverdue = failure !== undefined
              return failure
            })
            const reusable = isUsable() && !isOverdue && sizeBytes < FRESH_AFTER_BYTES
            if (read?._tag === "Content") return { result: Result.succeed(read.content), reusable }
            const failure = unreadable(read?._tag === "Unreadable" ? read.message : ENDED)
            return { result: Result.fail(failure), reusable }
          })
        })
    }
    return parser
  })
