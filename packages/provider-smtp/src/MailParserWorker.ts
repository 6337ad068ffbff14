import {
  ClientAddress,
  type InboundEnvelope,
  MailParser,
  type MailUnreadable,
  type SenderAuthentication
} from "@agentos/core"
import { Effect, Layer, Pool, type Result, Stream } from "effect"
import { FairSlots } from "./FairSlots.ts"
import { UNDETERMINED } from "./parser/ParserMessage.ts"
import { type ParserProcess, startParser } from "./parser/ParserProcess.ts"
import type { MailContent } from "./parser/ReadMail.ts"
import type { SenderDns } from "./SenderDns.ts"
import { SharedReader } from "./SharedReader.ts"

export interface MailParserConfig {
  /** The name of the host that receives the mail. */
  readonly hostName: string
  readonly dns: SenderDns
  /**
   * Limit of mails read at the same time, each in a process of its own; default 2. Another one reads small mails, and two
   * more check senders.
   */
  readonly processesMax?: number | undefined
  /** Time limit for reading one mail, in milliseconds; default 10,000. */
  readonly readMillis?: number | undefined
  /** Budget of processor time for reading one mail, in milliseconds; default 2,000 and 100 for each MiB. */
  readonly processorMillis?: number | undefined
  readonly processorMillisPerMib?: number | undefined
  /** Time limit for all DNS lookups of one mail, in milliseconds; default 5,000. */
  readonly dnsMillis?: number | undefined
  /** Time limit for the check of a sender whose SMTP client waits, the wait for a process included; default 20,000. */
  readonly checkMillis?: number | undefined
  /** The JavaScript heap of one process, in MiB; default 256. */
  readonly heapMegabytes?: number | undefined
  /** Milliseconds after which an idle process ends, or up to twice as long; default 30,000. */
  readonly idleMillis?: number | undefined
}

/** A mail up to this size is first read in the process that small mails share. */
const SHARED_MAIL_BYTES = 64 * 1024

/** A mail up to this size is kept until its sender has been checked, and shares a process with many others. */
const SMALL_MAIL_BYTES = 256 * 1024

/** Limits of senders that are checked at the same time: in all, and from one network. They mostly wait for the DNS. */
const SMALL_CHECKS = { all: 64, perNetwork: 32 }
/** Of larger mails, whose bytes the process keeps meanwhile. */
const LARGE_CHECKS = { all: 6, perNetwork: 2 }

/** How often the check of a sender is repeated if another mail ends the process. */
const CHECK_RETRIES = 1

/** Processes that check senders, and their slots. */
interface Checkers {
  readonly pool: Pool.Pool<ParserProcess>
  readonly slots: FairSlots
}

/**
 * Reads mail in separate processes, which are killed when a mail takes too much time or memory. Such a mail is
 * `MailUnreadable`, and the next one gets a new process. Processes are used instead of threads, so that a mail
 * can neither end the service nor leave its memory allocated. Small mails share a process, which also checks their senders;
 * if it ends, each of them is read alone. Other senders are checked in processes of their own, many at a time, so that no
 * mail waits for the DNS of another's sender. Networks take turns.
 *
 * Processes are started when mail arrives, and end when there has been none for a while.
 */
export const layer = (config: MailParserConfig): Layer.Layer<MailParser> =>
  Layer.effect(
    MailParser,
    Effect.gen(function* () {
      const limits = {
        readMillis: config.readMillis ?? 10_000,
        processorMillis: config.processorMillis ?? 2_000,
        processorMillisPerMib: config.processorMillisPerMib ?? 100,
        heapMegabytes: config.heapMegabytes ?? 256
      }
      const idleMillis = config.idleMillis ?? 30_000
      const openPool = (max: number, concurrency: number) =>
        Pool.makeWithTTL({ acquire: startParser(limits), min: 0, max, concurrency, timeToLive: idleMillis })
      const openCheckers = ({ all, perNetwork }: typeof SMALL_CHECKS) =>
        Effect.map(openPool(1, all), (pool): Checkers => ({ pool, slots: new FairSlots(all, perNetwork) }))
      const processesMax = config.processesMax ?? 2
      const readers = yield* openPool(processesMax, 1)
      const readerSlots = new FairSlots(processesMax)
      const smallCheckers = yield* openCheckers(SMALL_CHECKS)
      const largeCheckers = yield* openCheckers(LARGE_CHECKS)
      const settings = { hostName: config.hostName, dns: config.dns, dnsMillis: config.dnsMillis ?? 5_000 }
      const shared = yield* Effect.acquireRelease(
        Effect.sync(() => new SharedReader({ limits, settings, idleMillis })),
        (reader) => Effect.sync(() => reader.close())
      )

      const read = (raw: Stream.Stream<Uint8Array>): Effect.Effect<Result.Result<MailContent, MailUnreadable>> =>
        Pool.use(readers, (parser) =>
          parser.parse(raw).pipe(
            Effect.tap(({ reusable }) => (reusable ? Effect.void : Pool.invalidate(readers, parser))),
            // If the caller is interrupted, or cannot read the mail to its end, the process is left in the
            // middle of it.
            Effect.onError(() => Pool.invalidate(readers, parser))
          )
        ).pipe(
          // The process ended while it was idle, which the mail cannot have caused.
          Effect.flatMap(({ result }) => (result === undefined ? read(raw) : Effect.succeed(result)))
        )

      /** Checks a sender, and once more if another mail ended the process. */
      const check = (
        pool: Pool.Pool<ParserProcess>,
        raw: Stream.Stream<Uint8Array>,
        envelope: InboundEnvelope,
        retries: number
      ): Effect.Effect<SenderAuthentication> =>
        Pool.use(pool, (parser) =>
          Effect.tap(parser.authenticate(raw, { envelope, settings }), ({ reusable }) =>
            reusable ? Effect.void : Pool.invalidate(pool, parser)
          )
        ).pipe(
          Effect.flatMap(({ result }) => {
            if (result !== undefined) return Effect.succeed(result)
            return retries === 0 ? Effect.succeed(UNDETERMINED) : check(pool, raw, envelope, retries - 1)
          })
        )
      const authenticate = (raw: Stream.Stream<Uint8Array>, sizeBytes: number, envelope: InboundEnvelope) => {
        const { pool, slots } = sizeBytes <= SMALL_MAIL_BYTES ? smallCheckers : largeCheckers
        return slots.use(ClientAddress.networkOf(envelope.remoteAddress), check(pool, raw, envelope, CHECK_RETRIES))
      }

      const parseAlone = Effect.fnUntraced(function* (raw: Stream.Stream<Uint8Array>, envelope: InboundEnvelope) {
        let small: Array<Uint8Array> | undefined = []
        let sizeBytes = 0
        const network = ClientAddress.networkOf(envelope.remoteAddress)
        const kept = Stream.suspend(() => {
          small = []
          sizeBytes = 0
          return Stream.tap(raw, (bytes) =>
            Effect.sync(() => {
              sizeBytes += bytes.length
              if (sizeBytes > SMALL_MAIL_BYTES) small = undefined
              small?.push(bytes)
            })
          )
        })
        // The process that checks the sender may have to be started, which takes as long as that of the reader.
        if (envelope.authentication === undefined)
          yield* Effect.forkScoped(Pool.use(smallCheckers.pool, () => Effect.void))
        const content = yield* Effect.flatMap(readerSlots.use(network, read(kept)), Effect.fromResult)
        const again = small === undefined ? raw : Stream.fromIterable(small)
        const authentication = envelope.authentication ?? (yield* authenticate(again, sizeBytes, envelope))
        return { ...content, authentication }
      }, Effect.scoped)

      const parseShared = (raw: Uint8Array, envelope: InboundEnvelope) =>
        Effect.flatMap(
          shared.read(
            raw,
            ClientAddress.networkOf(envelope.remoteAddress),
            envelope.authentication === undefined ? envelope : undefined
          ),
          (outcome) =>
            outcome === undefined
              ? parseAlone(Stream.make(raw), envelope)
              : Effect.map(Effect.fromResult(outcome), ({ authentication, content }) => ({
                  ...content,
                  authentication: authentication ?? envelope.authentication ?? UNDETERMINED
                }))
        )

      return MailParser.of({
        parse: (raw, envelope) =>
          raw instanceof Uint8Array
            ? raw.length <= SHARED_MAIL_BYTES
              ? parseShared(raw, envelope)
              : parseAlone(Stream.make(raw), envelope)
            : parseAlone(raw, envelope),
        authenticate: (raw, envelope) =>
          Effect.timeoutOrElse(
            Effect.flatMap(Stream.runCollect(raw), (pieces) => {
              const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0)
              return authenticate(Stream.fromIterable(pieces), sizeBytes, envelope)
            }),
            { duration: config.checkMillis ?? 20_000, orElse: () => Effect.succeed(UNDETERMINED) }
          )
      })
    })
  )
