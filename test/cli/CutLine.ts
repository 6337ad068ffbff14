import { startForwarder } from "../support/Forwarder.ts"

/** A TCP forwarder that can be cut. */
export interface CutLine {
  readonly url: string
  /** Sets the server behind it. */
  readonly leadTo: (url: string) => void
  /** Closes all connections and rejects new ones until `restore`. */
  readonly cut: () => void
  readonly restore: () => void
  readonly stop: () => Promise<void>
}

/** Listens on a free port, without a server behind it yet. */
export const startCutLine = async (): Promise<CutLine> => {
  let port: number | undefined
  let isCut = false
  const { cut, stop, url } = await startForwarder(() => (isCut ? undefined : port))
  return {
    url,
    leadTo: (to) => (port = Number(new URL(to).port)),
    cut: () => {
      isCut = true
      cut()
    },
    restore: () => (isCut = false),
    stop
  }
}
