import { type AgentSessions, type ConnectedSession, partiesOf, Timestamp, type TurnReply } from "@agentos/core"
import type { SessionActions, SessionOwner } from "./SessionOwner.ts"

/** A session that answers calls. It receives the turns of its tenant's calls, and no events. */
export class AnsweringSession implements SessionActions {
  readonly mode = "voice"
  readonly owner: SessionOwner
  readonly #agents: typeof AgentSessions.Service
  readonly #phoneNumberIds: ConnectedSession["phoneNumberIds"]

  constructor(
    owner: SessionOwner,
    agents: typeof AgentSessions.Service,
    phoneNumberIds: ConnectedSession["phoneNumberIds"]
  ) {
    this.owner = owner
    this.#phoneNumberIds = phoneNumberIds
    this.#agents = agents
  }

  /** The session as calls see it. */
  get connected(): ConnectedSession {
    const { connection, sessionId, tenantId } = this.owner
    return {
      sessionId,
      tenantId,
      phoneNumberIds: this.#phoneNumberIds,
      ask: ({ transcriptSoFar, turn, ...message }) =>
        connection.send({
          type: "call.turn",
          ...message,
          ...partiesOf(message),
          turn: { text: turn.text, at: Timestamp.toIso(turn.at) },
          transcriptSoFar: transcriptSoFar.map(({ at, role, text }) => ({ role, text, at: Timestamp.toIso(at) }))
        }),
      interrupted: (turn) => connection.send({ type: "call.interrupted", ...turn })
    }
  }

  wake(): void {
    // No event is delivered.
  }

  acknowledge(): void {
    this.owner.connection.sendError("FORBIDDEN", "A voice session can't acknowledge events.")
  }

  reply(reply: TurnReply): void {
    const refusal = this.#agents.reply(this.owner.sessionId, reply)
    if (refusal !== undefined) this.owner.connection.sendError("RESOURCE_NOT_FOUND", refusal)
  }
}
