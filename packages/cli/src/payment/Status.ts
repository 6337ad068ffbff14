import type { PaymentState } from "@agentos/command-line"
import type { ApiClient, DataOf } from "../server/ApiClient.ts"
import type { ListedEntry } from "./JournalEntry.ts"

/** The state of a payment, as the server reports it to the holder of the signed payment. */
export type Status = DataOf<"readPaymentStatus">["payment"]

/** Reads the state of a payment by its signed header. It executes nothing, and needs no access token. */
export const readStatus = async (client: ApiClient, { paymentSignature }: ListedEntry): Promise<Status> =>
  (await client.call("readPaymentStatus", { headers: { "PAYMENT-SIGNATURE": paymentSignature } })).payment

/** Returns the outcome of a payment that ended; undefined while it can still be charged, delivered or refunded. */
export const finalState = ({ advice, paymentState }: Status): PaymentState | undefined =>
  advice === "done" ? paymentState : advice === "pay" ? "none" : undefined
