import type { ChildProcess } from "node:child_process"
import { type InboundEnvelope, MailUnreadable, type SenderAuthentication } from "@agentos/core"
import { Effect, Result } from "effect"
import { FairSlots } from "./FairSlots.ts"
import { PARSER_MAIN } from "./parser/ParserFiles.ts"
import type {
  AuthenticationSettings,
  ParserAnswer,
  ParserReply,
  SharedMail,
  SharedMails
} from "./parser/ParserMessage.ts"
import {
  AUTHENTICATION_GRACE_MILLIS,
  openProcessorClock,
  type ParserProcessLimits,
  type ProcessorClock,
  START_MILLIS,
  startChild,
  WATCH_INTERVAL_MILLIS
} from "./parser/ParserProcess.ts"
import type { MailContent } from "./parser/ReadMail.ts"

/** Limits of mails that the process has yet to read: in all, and from one network. */
const UNREAD = { all: 16, perNetwork: 8 }

/** Processor time in milliseconds in which the process must answer something. A mail that needs more is read alone. */
const PROGRESS_MILLIS = 250

/** A mail that was read; `authentication` is undefined if its sender was not to be checked. */
export interface SharedContent {
  readonly content: MailContent
  readonly authentication: SenderAuthentication | undefined
}

type Outcome = Result.Result<SharedContent, MailUnreadable> | undefined

interface Pending extends SharedMail {
  readonly done: (outcome: Outcome) => void
  /** Called once the mail was read. */
  readonly free: () => void
  content: MailContent | undefined
}

interface Running {
  readonly child: ChildProcess
  readonly clock: ProcessorClock
  readonly pending: Map<number, Pending>
  /** The mails of the next message. */
  outgoing: Array<SharedMail>
  isReady: boolean
  /** Whether it has answered since the last interval. */
  hasAnswered: boolean
  /** The intervals without an answer, and the processor time before them. */
  silence: { intervals: number; readonly sinceMillis: number }
  watch: NodeJS.Timeout | undefined
  idle: NodeJS.Timeout | undefined
  isEnded: boolean
}

export interface SharedReaderOptions {
  readonly limits: ParserProcessLimits
  readonly settings: AuthenticationSettings
  /** Milliseconds after which an idle process ends. */
  readonly idleMillis: number
  /** Replaces `parserMain.ts`. */
  readonly mainFile?: string
}

/**
 * Reads small mails and checks their senders in one process, which takes and answers several mails in one message. A mail
 * that ends the process, or keeps it from answering, leaves the others in it without an outcome as well: each of them is
 * then read in a process of its own. Networks take turns.
 *
 * The process is started when mail arrives, and ends when there has been none for a while.
 */
export class SharedReader {
  readonly #options: SharedReaderOptions
  readonly #slots = new FairSlots(UNREAD.all, UNREAD.perNetwork)
  #running: Running | undefined
  #lastId = 0

  constructor(options: SharedReaderOptions) {
    this.#options = options
  }

  /** Reads a mail, and checks its sender if there is an envelope. Undefined if the process ended. */
  read(bytes: Uint8Array, network: string, envelope: InboundEnvelope | undefined): Effect.Effect<Outcome> {
    return Effect.callback((resume) => {
      let isWanted = true
      const start = () => {
        let isFreed = false
        const free = () => {
          if (!isFreed) this.#slots.leave(network)
          isFreed = true
        }
        if (!isWanted) return free()
        const done = (outcome: Outcome) => resume(Effect.succeed(outcome))
        this.#send({ id: ++this.#lastId, bytes, envelope, done, free, content: undefined })
      }
      this.#slots.enter(network, start)
      return Effect.sync(() => {
        isWanted = false
        this.#slots.remove(network, start)
      })
    })
  }

  /** Ends the process. */
  close(): void {
    if (this.#running !== undefined) this.#end(this.#running)
  }

  #send(mail: Pending): void {
    const running = (this.#running ??= this.#start())
    clearTimeout(running.idle)
    running.pending.set(mail.id, mail)
    if (running.watch === undefined) {
      // The clock is read at intervals only, because each read is a system call.
      running.hasAnswered = true
      running.watch = setInterval(() => this.#check(running), WATCH_INTERVAL_MILLIS)
    }
    const { bytes, envelope, id } = mail
    if (running.outgoing.push({ id, bytes, envelope }) > 1) return
    // Mails of one step of other work share a message.
    setImmediate(() => {
      if (this.#running !== running) return
      const mails = running.outgoing
      running.outgoing = []
      const request: SharedMails = { settings: this.#options.settings, mails }
      running.child.send(request, (error) => {
        if (error !== null) this.#end(running)
      })
    })
  }

  #start(): Running {
    const child = startChild(this.#options.mainFile ?? PARSER_MAIN, this.#options.limits.heapMegabytes)
    const running: Running = {
      child,
      clock: openProcessorClock(child.pid),
      pending: new Map(),
      outgoing: [],
      isReady: false,
      hasAnswered: false,
      silence: { intervals: 0, sinceMillis: 0 },
      watch: undefined,
      idle: undefined,
      isEnded: false
    }
    const end = () => this.#end(running)
    child.on("message", (reply: ParserReply) => {
      running.hasAnswered = true
      if (reply._tag === "Ready") running.isReady = true
      else if (reply._tag === "Answers") for (const { answer, id } of reply.answers) this.#answer(running, id, answer)
    })
    child.on("error", end)
    child.on("exit", end)
    return running
  }

  #answer(running: Running, id: number, answer: ParserAnswer): void {
    const mail = running.pending.get(id)
    if (mail === undefined) return
    mail.free()
    if (answer._tag === "Content" && mail.envelope !== undefined) {
      mail.content = answer.content
      return
    }
    running.pending.delete(id)
    // The waiting fiber continues at once, and may end the process.
    mail.done(outcomeOf(answer, mail.content))
    if (running.pending.size > 0 || running.isEnded) return
    clearInterval(running.watch)
    running.watch = undefined
    running.idle = setTimeout(() => this.#end(running), this.#options.idleMillis)
  }

  /** Ends a process that a mail keeps from answering. */
  #check(running: Running): void {
    const { limits, settings } = this.#options
    const { isReady, silence } = running
    const usedMillis = running.clock.millis() ?? 0
    if (running.hasAnswered) {
      running.hasAnswered = false
      running.silence = { intervals: 0, sinceMillis: usedMillis }
      return
    }
    const silentMillis = ++silence.intervals * WATCH_INTERVAL_MILLIS
    const isTooLong = silentMillis >= (isReady ? settings.dnsMillis + AUTHENTICATION_GRACE_MILLIS : START_MILLIS)
    const isTooBusy = isReady && usedMillis - silence.sinceMillis > Math.min(PROGRESS_MILLIS, limits.processorMillis)
    if (isTooLong || isTooBusy) this.#end(running)
  }

  /** Does nothing for a process that has ended: the number of its file may be that of another one. */
  #end(running: Running): void {
    if (running.isEnded) return
    running.isEnded = true
    if (this.#running === running) this.#running = undefined
    clearInterval(running.watch)
    clearTimeout(running.idle)
    running.child.removeAllListeners()
    // An error of a process that has already ended is of no interest.
    running.child.on("error", () => undefined)
    running.child.kill("SIGKILL")
    running.clock.close()
    const left = [...running.pending.values()]
    running.pending.clear()
    for (const { done, free } of left) {
      free()
      done(undefined)
    }
  }
}

const outcomeOf = (answer: ParserAnswer, content: MailContent | undefined): Outcome => {
  switch (answer._tag) {
    case "Unreadable":
      return Result.fail(new MailUnreadable({ message: answer.message }))
    case "Content":
      return Result.succeed({ content: answer.content, authentication: undefined })
    case "Authentication":
      return content === undefined ? undefined : Result.succeed({ content, authentication: answer.authentication })
  }
}
