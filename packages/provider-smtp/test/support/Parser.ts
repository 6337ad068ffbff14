import {
  type InboundEnvelope,
  MailParser,
  type MailUnreadable,
  type ParsedMail,
  type SenderAuthentication
} from "@agentos/core"
import { Effect, ManagedRuntime, type Result, Stream } from "effect"
import * as MailParserWorker from "../../src/MailParserWorker.ts"

export const envelope: InboundEnvelope = {
  mailFrom: "bounce@sender.test",
  rcptTo: ["ada@agents.test"],
  remoteAddress: "127.0.0.1",
  helo: "out.sender.test",
  secure: true
}

export interface TestParser {
  readonly parse: (
    raw: string | Uint8Array,
    from?: Partial<InboundEnvelope>
  ) => Promise<Result.Result<ParsedMail, MailUnreadable>>
  readonly authenticate: (raw: Uint8Array, from?: Partial<InboundEnvelope>) => Promise<SenderAuthentication>
  readonly close: () => Promise<void>
}

/**
 * Opens a parser whose DNS has no records, unless the configuration says otherwise. Text is converted to
 * Latin-1 bytes.
 */
export const openParser = (config: Partial<MailParserWorker.MailParserConfig> = {}): TestParser => {
  const runtime = ManagedRuntime.make(
    MailParserWorker.layer({ hostName: "mx.agents.test", dns: { _tag: "Zone", records: [] }, ...config })
  )
  return {
    parse: (raw, from = {}) =>
      runtime.runPromise(
        Effect.flatMap(MailParser, (parser) =>
          Effect.result(
            parser.parse(Stream.make(typeof raw === "string" ? Buffer.from(raw, "latin1") : raw), {
              ...envelope,
              ...from
            })
          )
        )
      ),
    authenticate: (raw, from = {}) =>
      runtime.runPromise(
        Effect.flatMap(MailParser, (parser) => parser.authenticate(Stream.make(raw), { ...envelope, ...from }))
      ),
    close: () => runtime.dispose()
  }
}
