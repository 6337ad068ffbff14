import type { SenderAuthentication } from "@agentos/core"

/** The verdicts on a sender that could not be checked, which may be possible at another time. */
export const UNDETERMINED: SenderAuthentication = {
  spf: "temperror",
  dkim: "temperror",
  dmarc: "temperror",
  domain: null
}

/** The verdicts on a sender that can't be checked: the header is too large to be read. */
export const UNCHECKABLE: SenderAuthentication = {
  spf: "permerror",
  dkim: "permerror",
  dmarc: "permerror",
  domain: null
}
