import { MailParser, type MailUnreadable, type ParsedMail } from "@agentos/core"
import { Effect, Layer, Pool, type Result, type Stream } from "effect"
import type { ParserJob } from "./parser/ParserMessage.ts"
import { startParser } from "./parser/ParserProcess.ts"
import type { SenderDns } from "./SenderDns.ts"

/** How mail is read. */
export interface MailParserConfig {
  /** The name of the host that takes the mail. */
  readonly hostName: string
  readonly dns: SenderDns
  /** How many mails are read at a time, each by a process of its own; 2 unless given. */
  readonly processesMax?: number | undefined
  /** What reading one mail may take, in milliseconds; 10,000 unless given. */
  readonly readMillis?: number | undefined
  /** What all lookups for one mail may take, in milliseconds; 5,000 unless given. */
  readonly dnsMillis?: number | undefined
  /** The JavaScript heap of one process, in MiB; 256 unless given. */
  readonly heapMegabytes?: number | undefined
  /** A process without work ends after this, in milliseconds, or up to twice as long; 30,000 unless given. */
  readonly idleMillis?: number | undefined
}

/**
 * Reads mail in processes of their own, which are killed when a mail takes them too much time or memory:
 * such a mail is `MailUnreadable`, and the next one gets a new process. Processes rather than threads, since
 * a mail can then neither end the service nor leave its memory behind.
 *
 * They are started when there is mail, and end when there has been none for a while.
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
            // A caller that is interrupted, or can't read the mail to its end, leaves the process in the middle of it.
            Effect.onError(() => Pool.invalidate(pool, parser))
          )
        ).pipe(
          // A process that ended while it was idle, for whatever reason, is no fault of the mail.
          Effect.flatMap(({ result }) => (result === undefined ? read(raw, job) : Effect.succeed(result)))
        )

      return MailParser.of({
        parse: (raw, envelope) => Effect.flatMap(read(raw, { envelope, settings }), Effect.fromResult)
      })
    })
  )
