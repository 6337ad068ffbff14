import type { Socket } from "node:net"
import type { WebSocket } from "ws"
import type { Acknowledgement, Frame, SeenSession } from "./History.ts"

/** An acknowledgement, and the delivery that made the client send it. */
export interface Sent {
  readonly acknowledgement: Acknowledgement
  readonly frame: Frame
}

/** An open socket of a client. */
export interface Connection {
  readonly url: string
  readonly socket: WebSocket
  readonly wire: () => Socket | undefined
  readonly closed: Promise<void>
  session: SeenSession | undefined
  /** Sent and not answered, by event; those of one event are answered in turn. */
  readonly unanswered: Map<string, Array<Sent>>
  /** Delivered, and nothing done about it so far. */
  readonly held: Map<string, Frame>
  isPaused: boolean
}

/** The head of a masked text frame of 100 bytes (RFC 6455, section 5.2), and the first of them. */
export const HALF_A_FRAME = Buffer.from([0x81, 0x80 | 100, 1, 2, 3, 4, ...Buffer.from('{"type":"event.ack"')])

/** Takes an answer for the acknowledgement of the event that has waited longest. */
export const settle = (
  { unanswered }: Connection,
  eventId: string,
  answer: NonNullable<Acknowledgement["answer"]>,
  at: number
): void => {
  const waiting = unanswered.get(eventId)
  const acknowledgement = waiting?.shift()?.acknowledgement
  if (acknowledgement === undefined) return
  if (waiting?.length === 0) unanswered.delete(eventId)
  acknowledgement.answer = answer
  acknowledgement.answeredAt = at
}
