/** What a peer needs to know before it listens. */
export interface PeerCommand<Options> {
  readonly options: Options
}

export interface PeerAnswer {
  readonly port: number
}

/** Serves with the options of the first message, and answers with the port. Ends with the process that started it. */
export const servePeer = <Options>(listen: (options: Options) => Promise<number>): void => {
  process.once("message", ({ options }: PeerCommand<Options>) => {
    void listen(options).then((port) => process.send?.({ port } satisfies PeerAnswer))
  })
  process.once("disconnect", () => process.exit(0))
}

/** The address on which every peer listens. */
export const HOST = "127.0.0.1"

/** Returns the port of a server of node:net that listens. */
export const portOf = (server: { readonly address: () => string | { readonly port: number } | null }): number => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the peer does not listen on a port")
  return address.port
}
