import type { SenderAuthentication } from "@agentos/core"

/** The results for a sender that could not be checked now, but perhaps later. */
export const UNDETERMINED: SenderAuthentication = {
  spf: "temperror",
  dkim: "temperror",
  dmarc: "temperror",
  domain: null
}

/** The results for a sender that can never be checked, because the header is too large. */
export const UNCHECKABLE: SenderAuthentication = {
  spf: "permerror",
  dkim: "permerror",
  dmarc: "permerror",
  domain: null
}
