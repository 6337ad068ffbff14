/** A paid route. */
export interface ShopOptions {
  readonly path: string
  readonly description: string
  readonly facilitatorUrl: string
  /** Where a purchase is stored. Without it, none is. */
  readonly databaseUrl?: string
  readonly network: `${string}:${string}`
  readonly payTo: string
  readonly amount: string
  readonly asset: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** The configuration of the route, in the form of x402's middlewares. */
export const termsOf = ({ amount, asset, description, extra, maxTimeoutSeconds, network, payTo }: ShopOptions) => ({
  accepts: { scheme: "exact", network, payTo, price: { amount, asset, extra }, maxTimeoutSeconds },
  description,
  mimeType: "application/json"
})
