import {
  type InboundEnvelope,
  MailParser,
  type MailUnreadable,
  type ParsedMail,
  type SenderAuthentication
} from "@agentos/core"
import { Effect, ManagedRuntime, Result, Stream } from "effect"
import { expect } from "vitest"
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
    raw: string | Uint8Array | Stream.Stream<Uint8Array>,
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
            parser.parse(typeof raw === "string" ? Buffer.from(raw, "latin1") : raw, {
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

/** The header of an ordinary mail. */
export const HEADER =
  "From: Ada <ada@Sender.Test>\r\nTo: bob@agents.test\r\nSubject: hello\r\nMessage-ID: <1@sender.test>\r\n"

/** Returns a mail with these parts. */
export const mixed = (...parts: ReadonlyArray<string>) =>
  `${HEADER}Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts.map((part) => `--b\r\n${part}\r\n`).join("")}--b--\r\n`

/** Parses a mail, and checks that its fields contain no control characters, and its texts no zero. */
export const readWhole = async (parser: TestParser, raw: string): Promise<ParsedMail> => {
  const mail = Result.getOrThrow(await parser.parse(raw))
  const { extractedText, html, text, ...rest } = mail
  expect(JSON.stringify(rest)).not.toMatch(/\\u00[01]|\\u007f|\\[rnt]/)
  expect(`${text}${html}${extractedText}`).not.toContain("\u0000")
  expect(JSON.stringify(mail).isWellFormed()).toBe(true)
  return mail
}
