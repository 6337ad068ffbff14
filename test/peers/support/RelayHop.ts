import { type DeliveredMail, startNextHop } from "./NextHop.ts"
import { vi } from "vitest"

const PATIENCE_MILLIS = 30_000

/** A relay that keeps the mail of the service, for a delivery agent of the recipient. */
export interface RelayHop {
  /** Waits until the service has sent a mail to an address, and returns it. */
  readonly arrived: (recipient: string) => Promise<DeliveredMail>
  readonly close: () => Promise<void>
}

export const startRelayHop = async (port: number): Promise<RelayHop> => {
  const hop = await startNextHop({ port, acceptsAll: true })
  return {
    arrived: (recipient) =>
      vi.waitFor(
        () => {
          const mail = hop.mails.find(({ rcptTo }) => rcptTo.includes(recipient))
          if (mail === undefined) throw new Error(`no mail to ${recipient}`)
          return mail
        },
        { timeout: PATIENCE_MILLIS, interval: 50 }
      ),
    close: hop.close
  }
}
