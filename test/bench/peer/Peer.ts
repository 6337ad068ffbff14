/** The address on which every peer listens. */
export const HOST = "127.0.0.1"

/** Returns the port of a server of node:net that listens. */
export const portOf = (server: { readonly address: () => string | { readonly port: number } | null }): number => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the peer does not listen on a port")
  return address.port
}
