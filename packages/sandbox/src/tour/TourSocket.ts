import { WebSocket } from "ws"
import { Unexpected, within } from "./Expectation.ts"

/** A message from the server, as far as the tour looks into it. */
export interface ServerMessage {
  readonly type: string
  readonly eventId?: string
  readonly delivered?: number
  readonly message?: string
  readonly event?: {
    readonly eventId: string
    readonly type: string
    readonly payload: Readonly<Record<string, unknown>>
  }
}

/** A realtime session in the hands of the tour. */
export interface TourSocket {
  /** The next message that fits. Those before it are passed by, or are what `fits` makes of them. */
  readonly next: (what: string, fits: (message: ServerMessage) => boolean) => Promise<ServerMessage>
  readonly send: (message: object) => void
  readonly close: () => void
}

const waitMillisMax = 10_000

export const openTourSocket = async (url: string): Promise<TourSocket> => {
  const socket = new WebSocket(url)
  const arrived: Array<ServerMessage> = []
  let wake: () => void = () => undefined
  let ended: Error | undefined
  socket.on("message", (data: Buffer) => {
    arrived.push(JSON.parse(data.toString()) as ServerMessage)
    wake()
  })
  socket.on("error", (error) => (ended = error))
  socket.on("close", (code, reason) => {
    ended ??= new Unexpected("an open socket", `it closed with ${code} ${reason.toString()}`)
    wake()
  })

  const take = async (fits: (message: ServerMessage) => boolean): Promise<ServerMessage> => {
    for (;;) {
      for (let message = arrived.shift(); message !== undefined; message = arrived.shift()) {
        if (fits(message)) return message
        if (message.type === "error") throw new Unexpected("no error", message.message ?? "one without a message")
      }
      if (ended !== undefined) throw ended
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  await within(
    waitMillisMax,
    "an open socket",
    new Promise<void>((resolve, reject) => {
      socket.once("open", resolve)
      socket.once("error", reject)
    })
  )
  return {
    next: (what, fits) => within(waitMillisMax, what, take(fits)),
    send: (message) => socket.send(JSON.stringify(message)),
    close: () => socket.close()
  }
}
