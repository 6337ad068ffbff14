import { MailParser } from "@agentos/core"
import { Effect, Layer, Pool } from "effect"
import { UNDETERMINED } from "./parser/ParserMessage.ts"
import { type ParserOutcome, type ParserProcess, startParser } from "./parser/ParserProcess.ts"
import type { SenderDns } from "./SenderDns.ts"

export interface MailParserConfig {
  /** The name of the host that receives the mail. */
  readonly hostName: string
  readonly dns: SenderDns
  /**
   * Limit of mails read at the same time, each in a process of its own, and of mails whose senders are checked while
   * their SMTP clients wait, in further processes; default 2 each.
   */
  readonly processesMax?: number | undefined
  /** Time limit for reading one mail, in milliseconds; default 10,000. */
  readonly readMillis?: number | undefined
  /** Time limit for all DNS lookups of one mail, in milliseconds; default 5,000. */
  readonly dnsMillis?: number | undefined
  /** Time limit for the check of a sender whose SMTP client waits, the wait for a process included; default 20,000. */
  readonly checkMillis?: number | undefined
  /** The JavaScript heap of one process, in MiB; default 256. */
  readonly heapMegabytes?: number | undefined
  /** Milliseconds after which an idle process ends, or up to twice as long; default 30,000. */
  readonly idleMillis?: number | undefined
}

/**
 * Reads mail in separate processes, which are killed when a mail takes too much time or memory. Such a mail is
 * `MailUnreadable`, and the next one gets a new process. Processes are used instead of threads, so that a mail
 * can neither end the service nor leave its memory allocated. Accepted mail and mail whose SMTP client waits do not
 * share processes, so neither waits for the other.
 *
 * They are started when mail arrives, and end when there has been none for a while.
 */
export const layer = (config: MailParserConfig): Layer.Layer<MailParser> =>
  Layer.effect(
    MailParser,
    Effect.gen(function* () {
      const openPool = Pool.makeWithTTL({
        acquire: startParser({
          readMillis: config.readMillis ?? 10_000,
          heapMegabytes: config.heapMegabytes ?? 256
        }),
        min: 0,
        max: config.processesMax ?? 2,
        timeToLive: config.idleMillis ?? 30_000
      })
      const readers = yield* openPool
      const checkers = yield* openPool
      const settings = { hostName: config.hostName, dns: config.dns, dnsMillis: config.dnsMillis ?? 5_000 }

      const use = <A>(
        pool: Pool.Pool<ParserProcess>,
        work: (parser: ParserProcess) => Effect.Effect<ParserOutcome<A>>
      ): Effect.Effect<A> =>
        Pool.use(pool, (parser) =>
          work(parser).pipe(
            Effect.tap(({ reusable }) => (reusable ? Effect.void : Pool.invalidate(pool, parser))),
            // If the caller is interrupted, or cannot read the mail to its end, the process is left in the
            // middle of it.
            Effect.onError(() => Pool.invalidate(pool, parser))
          )
        ).pipe(
          // The process ended while it was idle, which the mail cannot have caused.
          Effect.flatMap(({ result }) => (result === undefined ? use(pool, work) : Effect.succeed(result)))
        )

      return MailParser.of({
        parse: (raw, envelope) =>
          Effect.flatMap(
            use(readers, (parser) => parser.parse(raw, { envelope, settings })),
            Effect.fromResult
          ),
        authenticate: (raw, envelope) =>
          Effect.timeoutOrElse(
            use(checkers, (parser) => parser.authenticate(raw, { envelope, settings })),
            { duration: config.checkMillis ?? 20_000, orElse: () => Effect.succeed(UNDETERMINED) }
          )
      })
    })
  )
