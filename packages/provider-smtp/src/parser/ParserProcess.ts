import { type ChildProcess, fork } from "node:child_process"
import { MailUnreadable, type ParsedMail, type SenderAuthentication } from "@agentos/core"
import { Deferred, Effect, Exit, Option, Result, type Scope, Stream } from "effect"
import { PARSER_MAIN, parserFiles } from "./ParserFiles.ts"
import { type ParserJob, type ParserReply, type ParserRequest, UNDETERMINED } from "./ParserMessage.ts"
import type { MailContent } from "./ReadMail.ts"

const START_MILLIS = 20_000
/** Processor time that the sender checks may take beyond their wait for the DNS. */
const AUTHENTICATION_GRACE_MILLIS = 1_000
/** Time limit for finding the quotes in a text. */
const REPLY_MILLIS = 1_000
/** After a mail of at least this size, a process retains much of the memory that it used. */
const FRESH_AFTER_BYTES = 4 * 1024 * 1024

export interface ParserProcessLimits {
  /** Time limit for reading one mail. The sender checks have a separate limit. */
  readonly readMillis: number
  /** The JavaScript heap; memory outside it is proportional to the size of the mail. */
  readonly heapMegabytes: number
}

/** The outcome of one mail in a process. */
export interface ParserOutcome<A> {
  /** Undefined if the process had ended before it received the mail. */
  readonly result: A | undefined
  /** True if the process is ready for the next mail. Otherwise its scope must be closed to end it. */
  readonly reusable: boolean
}

/** A process that reads one mail after the other. */
export interface ParserProcess {
  /** Unless it succeeds, the process has an unfinished mail and is not reusable. */
  readonly parse: (
    raw: Stream.Stream<Uint8Array>,
    job: ParserJob
  ) => Effect.Effect<ParserOutcome<Result.Result<ParsedMail, MailUnreadable>>>
  /** Checks the sender only. */
  readonly authenticate: (
    raw: Stream.Stream<Uint8Array>,
    job: ParserJob
  ) => Effect.Effect<ParserOutcome<SenderAuthentication>>
}

/** Receives the replies to the current mail. */
interface Pending {
  readonly content: Deferred.Deferred<MailContent, MailUnreadable>
  readonly authentication: Deferred.Deferred<SenderAuthentication>
  readonly extractedText: Deferred.Deferred<string | null>
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

/**
 * Starts a process and waits until it is ready; kills it by SIGKILL when the scope closes. A mail that takes
 * too long, or ends the process by its use of memory, is `MailUnreadable`; if only its sender checks do, they
 * are `temperror`; if only the search for quotes does, `extractedText` is null. A failure to start the process is
 * a defect, since no mail has caused it. A different `mainFile` must reply like `parserMain.ts`, and has the same
 * permissions.
 */
export const startParser = (
  limits: ParserProcessLimits,
  mainFile: string = PARSER_MAIN
): Effect.Effect<ParserProcess, never, Scope.Scope> =>
  Effect.gen(function* () {
    const started = yield* Deferred.make<void>()
    let ended = false
    let pending: Pending | undefined

    const onReply = (reply: ParserReply): void => {
      if (reply._tag === "Ready") Deferred.doneUnsafe(started, Exit.void)
      else if (pending !== undefined) take(pending, reply)
    }
    const onEnd = (): void => {
      ended = true
      Deferred.doneUnsafe(started, Exit.die(new Error("the process that reads mail ended as it started")))
      if (pending === undefined) return
      take(pending, { _tag: "Unreadable", message: ENDED })
      take(pending, { _tag: "Authentication", authentication: UNDETERMINED })
      take(pending, { _tag: "Reply", extractedText: null })
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

    /** Sends a mail and its request, and returns what receives the replies. */
    const begin = Effect.fnUntraced(function* (
      raw: Stream.Stream<Uint8Array>,
      _tag: "Job" | "SenderCheck",
      job: ParserJob
    ) {
      const current: Pending = {
        content: yield* Deferred.make<MailContent, MailUnreadable>(),
        authentication: yield* Deferred.make<SenderAuthentication>(),
        extractedText: yield* Deferred.make<string | null>()
      }
      pending = current
      let sizeBytes = 0
      let last: Uint8Array | undefined
      yield* Stream.runForEach(raw, (bytes) => {
        const before = last
        last = bytes
        sizeBytes += bytes.length
        return before === undefined ? Effect.void : send({ _tag: "Piece", bytes: before })
      })
      yield* send({ _tag, job, bytes: last ?? new Uint8Array() })
      return { current, isLarge: sizeBytes >= FRESH_AFTER_BYTES }
    })

    const awaitAuthentication = ({ authentication }: Pending, { settings }: ParserJob) =>
      Effect.timeoutOption(Deferred.await(authentication), settings.dnsMillis + AUTHENTICATION_GRACE_MILLIS)

    return {
      authenticate: Effect.fnUntraced(function* (raw: Stream.Stream<Uint8Array>, job: ParserJob) {
        if (ended || !child.connected) return { result: undefined, reusable: false }
        const sent = yield* Effect.result(begin(raw, "SenderCheck", job))
        if (Result.isFailure(sent)) return { result: UNDETERMINED, reusable: false }
        const { current, isLarge } = sent.success
        const authentication = yield* awaitAuthentication(current, job)
        return {
          result: Option.getOrElse(authentication, () => UNDETERMINED),
          reusable: Option.isSome(authentication) && !ended && !isLarge
        }
      }),
      parse: Effect.fnUntraced(function* (raw: Stream.Stream<Uint8Array>, job: ParserJob) {
        if (ended || !child.connected) return { result: undefined, reusable: false }
        const sent = yield* Effect.result(begin(raw, "Job", job))
        if (Result.isFailure(sent)) return { result: Result.fail(sent.failure), reusable: false }
        const { current, isLarge } = sent.success
        const content = yield* Effect.timeoutOption(Effect.result(Deferred.await(current.content)), limits.readMillis)
        if (Option.isNone(content)) {
          const failure = unreadable(`reading it took longer than ${limits.readMillis} ms`)
          return { result: Result.fail(failure), reusable: false }
        }
        if (Result.isFailure(content.value)) {
          return { result: Result.fail(content.value.failure), reusable: !ended }
        }
        const authentication = yield* awaitAuthentication(current, job)
        const extractedText = Option.isNone(authentication)
          ? Option.none()
          : yield* Effect.timeoutOption(Deferred.await(current.extractedText), REPLY_MILLIS)
        return {
          result: Result.succeed({
            ...content.value.success,
            authentication: Option.getOrElse(authentication, () => UNDETERMINED),
            extractedText: Option.getOrNull(extractedText)
          }),
          reusable: Option.isSome(extractedText) && !ended && !isLarge
        }
      })
    }
  })

const take = (pending: Pending, reply: Exclude<ParserReply, { readonly _tag: "Ready" }>): void => {
  switch (reply._tag) {
    case "Content":
      if (reply.authentication !== undefined) {
        Deferred.doneUnsafe(pending.authentication, Exit.succeed(reply.authentication))
      }
      return void Deferred.doneUnsafe(pending.content, Exit.succeed(reply.content))
    case "Unreadable":
      return void Deferred.doneUnsafe(pending.content, Exit.fail(unreadable(reply.message)))
    case "Authentication":
      return void Deferred.doneUnsafe(pending.authentication, Exit.succeed(reply.authentication))
    case "Reply":
      return void Deferred.doneUnsafe(pending.extractedText, Exit.succeed(reply.extractedText))
  }
}
