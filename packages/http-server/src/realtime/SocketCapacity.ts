import { Context } from "effect"

/** How many realtime sockets one server holds at a time. */
export interface SocketCapacity {
  readonly sockets: number
  /** Those that have not authenticated, of all clients. */
  readonly unauthenticated: number
  /** The same, of one client. */
  readonly unauthenticatedPerClient: number
}

export const SocketCapacity = Context.Reference<SocketCapacity>("@agentos/http-server/realtime/SocketCapacity", {
  defaultValue: () => ({ sockets: 20_000, unauthenticated: 5_000, unauthenticatedPerClient: 1_000 })
})
