import net from "node:net"

/** Refuses connections to other machines, and collects their hosts in `refusedHosts`. */
export const refusedHosts = new Set()

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/

const connect = Reflect.get(net.Socket.prototype, "connect")
net.Socket.prototype.connect = function (...parameters) {
  const [first] = parameters
  const options = Array.isArray(first) ? first[0] : first
  const host = typeof options === "object" ? (options.host ?? "localhost") : String(parameters[1] ?? "localhost")
  if (LOOPBACK.test(host)) return connect.apply(this, parameters)
  refusedHosts.add(host)
  process.nextTick(() => this.destroy(new Error(`connections to ${host} are refused in this test`)))
  return this
}
