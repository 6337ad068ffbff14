import { MailParser, type MailUnreadable, type ParsedMail } from "@agentos/core"
import { Effect, Layer, Pool, type Result, type Stream } from "effect"
import type { ParserJob } from "./parser/ParserMessage.ts"
import { startParser } from "./parser/ParserProcess.ts"
import type { SenderDns } from "./SenderDns.ts"

export interface MailParserConfig {
  /** The name of the host that receives the mail. */
  readonly hostName: string
  readonly dns: SenderDns
  /** Limit of mails read at the same time, each in a process of its own; default 2. */
  readonly processesMax?: number | undefined
  /** Time limit for reading one mail, in milliseconds; default 10,000. */
  readonly readMillis?: number | undefined
  /** Time limit for all DNS lookups of one mail, in milliseconds; default 5,000. */
  readonly dnsMillis?: number | undefined
  /** The JavaScript heap of one process, in MiB; default 256. */
  readonly heapMegabytes?: number | undefined
  /** Milliseconds after which an idle process ends, or up to twice as long; default 30,000. */
  readonly idleMillis?: number | undefined
}

/**
 * Reads mail in separate processes, which are killed when a mail takes too much time or memory. Such a mail is
 * `MailUnreadable`, and the next one gets a new process. Processes are used instead of threads, so that a mail
 * can neither end the service nor leave its memory allocated.
 *
 * They are started when mail arrives, and end when there has been none for a while.
 */
export const layer = (config: MailParserConfig): Layer.Layer<MailParser> =>
  Layer.effect(
    MailParser,
    Effect.gen(function* () {
      const pool = yield* Pool.makeWithTTL({
        acquire: startParser({
          readMillis: config.readMillis ?? 10_000,
          heapMegabytes: config.heapMegabytes ?? 256
        }),
        min: 0,
        max: config.processesMax ?? 2,
        timeToLive: config.idleMillis ?? 30_000
      })
      const settings = { hostName: config.hostName, dns: config.dns, dnsMillis: config.dnsMillis ?? 5_000 }

      const read = (
        raw: Stream.Stream<Uint8Array>,
        job: ParserJob
      ): Effect.Effect<Result.Result<ParsedMail, MailUnreadable>> =>
        Pool.use(pool, (parser) =>
          parser.parse(raw, job).pipe(
            Effect.tap(({ reusable }) => (reusable ? Effect.void : Pool.invalidate(pool, parser))),
            // If the caller is interrupted, or cannot read the mail to its end, the process is left in the
            // middle of it.
            Effect.onError(() => Pool.invalidate(pool, parser))
          )
        ).pipe(
          // The process ended while it was idle, which the mail cannot have caused.
          Effect.flatMap(({ result }) => (result === undefined ? read(raw, job) : Effect.succeed(result)))
        )

      return MailParser.of({
        parse: (raw, envelope) => Effect.flatMap(read(raw, { envelope, settings }), Effect.fromResult)
      })
    })
  )
