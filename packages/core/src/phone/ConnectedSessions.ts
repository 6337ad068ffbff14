import type { TenantId } from "../tenancy/Tenant.ts"
import * as Timestamp from "../kernel/Timestamp.ts"
import type { AgentMessage } from "./AgentCallback.ts"
import type { AgentSession } from "./AgentSessionStore.ts"
import { ACCEPTED, type Parcel, type Post, type TurnAnswer } from "./SessionParcel.ts"

/** The maximum number of open turns of one session. */
export const TURNS_IN_FLIGHT_MAX = 64
/** An open turn is forgotten after this time, in case the server that asked is gone. */
const FORGOTTEN_AFTER = 40 * Timestamp.SECOND

/** A turn of a call, as a session receives it. */
export interface AgentTurn extends AgentMessage {
  readonly turnId: string
}

/** A part of a session's answer. The answer is complete unless `more` is true. */
export interface TurnReply {
  readonly callId: string
  readonly turnId: string
  readonly text?: string | undefined
  readonly digits?: string | undefined
  readonly hangup?: boolean | undefined
  readonly silenceSeconds?: number | undefined
  readonly more?: boolean | undefined
  /** The session does not answer the turn: the next one is asked at once. */
  readonly decline?: boolean | undefined
}

/** A connected session of this server, and the functions that send to its socket. */
export interface ConnectedSession {
  readonly sessionId: string
  readonly tenantId: TenantId
  /** The numbers whose calls it answers, at least one; null for all. */
  readonly phoneNumberIds: ReadonlyArray<string> | null
  readonly ask: (turn: AgentTurn) => void
  readonly interrupted: (turn: { readonly callId: string; readonly turnId: string }) => void
}

/** A turn that a session of this server has not answered completely. */
interface OpenTurn {
  readonly callId: string
  readonly replyTo: string
  readonly openedAt: Timestamp.Timestamp
}

interface LocalSession extends ConnectedSession {
  readonly open: Map<string, OpenTurn>
}

/** The sessions that are connected to this server, and the turns that each has not answered completely. */
export class ConnectedSessions {
  private readonly sessions = new Map<string, LocalSession>()
  private readonly serverId: string
  private readonly post: Post

  constructor(serverId: string, post: Post) {
    this.serverId = serverId
    this.post = post
  }

  get ids(): ReadonlyArray<string> {
    return [...this.sessions.keys()]
  }

  /** The sessions as all servers see them. */
  get listed(): ReadonlyArray<AgentSession> {
    return [...this.sessions.values()].map((session) => this.listedAs(session))
  }

  /** Adds a session and returns it as all servers see it. */
  add(session: ConnectedSession): AgentSession {
    this.sessions.set(session.sessionId, { ...session, open: new Map() })
    return this.listedAs(session)
  }

  /** Removes a session and refuses its open turns. */
  remove(sessionId: string): void {
    const session = this.sessions.get(sessionId)
    this.sessions.delete(sessionId)
    for (const [turnId, { replyTo }] of session?.open ?? []) {
      this.answer(replyTo, turnId, { _tag: "Refused", isFull: false })
    }
  }

  /** Removes open turns whose call's server is gone. */
  forgetTurns(now: Timestamp.Timestamp): void {
    for (const { open } of this.sessions.values()) {
      for (const [turnId, { openedAt }] of open) if (now - openedAt > FORGOTTEN_AFTER) open.delete(turnId)
    }
  }

  /** Passes a parcel from the server of a call to the session that it names. */
  receive(parcel: Exclude<Parcel, { readonly _tag: "Answer" }>): void {
    const { sessionId, turnId } = parcel
    const session = this.sessions.get(sessionId)
    switch (parcel._tag) {
      case "Interrupt": {
        session?.open.delete(turnId)
        return session?.interrupted({ callId: parcel.callId, turnId })
      }
      case "Ask": {
        const { message, replyTo } = parcel
        const isFull = session !== undefined && session.open.size >= TURNS_IN_FLIGHT_MAX
        if (session === undefined || isFull) return this.answer(replyTo, turnId, { _tag: "Refused", isFull })
        session.open.set(turnId, { callId: message.callId, replyTo, openedAt: message.turn.at })
        this.answer(replyTo, turnId, ACCEPTED)
        return session.ask({ turnId, ...message })
      }
      case "Check": {
        const isOpen = session?.open.has(turnId) === true
        return this.answer(parcel.replyTo, turnId, isOpen ? ACCEPTED : { _tag: "Refused", isFull: false })
      }
    }
  }

  /** Passes a reply of a session on. Returns why it is refused, or undefined. */
  reply(sessionId: string, reply: TurnReply): string | undefined {
    const { callId, decline = false, digits, hangup = false, more = false, silenceSeconds, text, turnId } = reply
    const open = this.sessions.get(sessionId)?.open
    const turn = open?.get(turnId)
    if (open === undefined || turn === undefined || turn.callId !== callId) {
      return `Turn ${turnId} of call ${callId} is not open in this session: it was answered, interrupted or never asked.`
    }
    if (!more || hangup || decline) open.delete(turnId)
    const said = {
      ...(text === undefined ? {} : { text }),
      ...(digits === undefined ? {} : { digits }),
      ...(silenceSeconds === undefined ? {} : { silenceSeconds })
    }
    this.answer(
      turn.replyTo,
      turnId,
      decline ? { _tag: "Refused", isFull: false } : { _tag: "Reply", ...said, hangup, more }
    )
    return undefined
  }

  private listedAs({ phoneNumberIds, sessionId, tenantId }: ConnectedSession): AgentSession {
    return { sessionId, tenantId, serverId: this.serverId, phoneNumberIds }
  }

  private answer(to: string, turnId: string, answer: TurnAnswer): void {
    this.post(to, { _tag: "Answer", turnId, answer })
  }
}
