import type { SenderAuthentication } from "@agentos/core"

/** Nothing could be found out about a sender: for now, as far as anybody knows. */
export const UNDETERMINED: SenderAuthentication = { spf: "temperror", dkim: "temperror", dmarc: "temperror" }
