import { Context, Effect, Schema, Stream } from "effect"
import type { Redacted } from "effect"
import type { Timestamp } from "../kernel/Timestamp.ts"
import type { CallDirection } from "./Call.ts"
import type { Turn } from "./Transcript.ts"

/** How many turns before this one an agent is told of. */
export const SOFAR_TURNS = 20

/** What a caller said, for the agent behind the number. */
export interface AgentMessage {
  readonly callId: string
  readonly phoneNumberId: string
  readonly direction: CallDirection
  readonly from: string
  readonly to: string
  readonly turn: { readonly text: string; readonly at: Timestamp }
  /** The last turns before it, oldest first: `SOFAR_TURNS` at most. */
  readonly transcriptSoFar: ReadonlyArray<Turn>
}

/** Where an agent listens, and what messages to it are signed with. */
export interface AgentAddress {
  readonly url: string
  readonly secret: Redacted.Redacted<string>
}

/** A part of an agent's answer, as it arrives: something to say, or that the call is to end after what was said. */
export type AgentReply = { readonly _tag: "Say"; readonly text: string } | { readonly _tag: "HangUp" }

/** Why an agent could not be heard. `message` says so to people, and is safe to show to the tenant. */
export class AgentUnreachable extends Schema.TaggedError<AgentUnreachable>()("AgentUnreachable", {
  reason: Schema.Literals(["address", "connection", "timeout", "status", "answer"]),
  message: Schema.String
}) {}

/** The port to the agents behind the numbers, by their webhooks. */
export class AgentCallback extends Context.Service<
  AgentCallback,
  {
    /** Whether an address may be an agent's: https, and public as far as its name says now. Answers why not. */
    readonly refusal: (url: string) => Effect.Effect<string | undefined>
    /**
     * Posts a message, and gives the answer's parts as they arrive. Once: what is tried again is the caller's to say. The
     * first byte has to come within 5 s, all of it within 30 s and 64 KiB. No redirect is followed, and the address
     * is checked again on the connection itself.
     */
    readonly ask: (address: AgentAddress, message: AgentMessage) => Stream.Stream<AgentReply, AgentUnreachable>
  }
>()("@agentos/core/phone/AgentCallback") {}
