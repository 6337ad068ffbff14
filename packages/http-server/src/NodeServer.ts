import { Context } from "effect"
import type { Server } from "node:http"

/** Node's own server, on which HTTP requests and WebSocket upgrades share one port. */
export class NodeServer extends Context.Service<NodeServer, Server>()("@agentos/http-server/NodeServer") {}
