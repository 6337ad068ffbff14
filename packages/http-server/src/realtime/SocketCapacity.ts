import { Context } from "effect"

/** The maximum number of concurrent realtime sockets of one server. */
export interface SocketCapacity {
  readonly sockets: number
  /** Maximum number of unauthenticated sockets of all clients. */
  readonly unauthenticated: number
  /** Maximum number of unauthenticated sockets of one client. */
  readonly unauthenticatedPerClient: number
}

export const SocketCapacity = Context.Reference<SocketCapacity>("@agentos/http-server/realtime/SocketCapacity", {
  defaultValue: () => ({ sockets: 20_000, unauthenticated: 5_000, unauthenticatedPerClient: 1_000 })
})
