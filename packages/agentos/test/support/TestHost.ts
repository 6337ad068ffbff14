import { ScriptedRail } from "@agentos/core/contract-tests"
import {
  mailPieces,
  BLANK_CONTENT,
  EmailProvider,
  MailParser,
  type OutgoingMail,
  PaymentRail,
  type ParsedMail
} from "@agentos/core"
import { SignInWithX } from "@agentos/x402"
import { Effect, Layer, Stream } from "effect"
import { type AgentOsOptions, memory } from "../../src/index.ts"

const unchecked = { spf: "none", dkim: "none", dmarc: "none", domain: null } as const

const parsed = (from: string): ParsedMail => ({
  ...BLANK_CONTENT,
  from: { address: from, name: null },
  subject: "Hello",
  text: "Hello",
  authentication: unchecked,
  bodyHash: "0".repeat(64)
})

/** Options of a host with a scripted rail, mail that goes nowhere, and storage in memory. */
export const testOptions = () => {
  const payments = ScriptedRail.make()
  const sent: Array<OutgoingMail> = []
  const options = {
    publicUrl: "http://localhost:8080/agents",
    keys: `1:${"k".repeat(44)}`,
    storage: memory(),
    payment: { layer: Layer.merge(Layer.succeed(PaymentRail, payments.rail), SignInWithX.layer(["eip155:402402"])) },
    mail: {
      layer: Layer.merge(
        Layer.succeed(EmailProvider, {
          name: "scripted",
          domain: "agents.test",
          send: (mail) =>
            Effect.sync(() => {
              sent.push(mail)
              return { accepted: mail.recipients, rejected: [], response: "250 ok" }
            })
        }),
        Layer.succeed(MailParser, {
          parse: (raw, { mailFrom }) => Effect.as(Stream.runDrain(mailPieces(raw)), parsed(mailFrom)),
          authenticate: () => Effect.succeed(unchecked)
        })
      )
    },
    log: () => undefined
  } satisfies AgentOsOptions
  return { options, payments, sent }
}
