const WORDS: Readonly<Record<string, string>> = {
  none: "open",
  "x402-bootstrap": "start here",
  bearer: "token",
  unavailable: "-"
}

/** How a service is called, in a word or two: by anybody, by whoever pays (which gives the token), or with the token. */
export const accessOf = ({ authentication }: { readonly authentication: string }): string =>
  WORDS[authentication] ?? authentication
