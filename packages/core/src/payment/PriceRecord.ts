import { Schema } from "effect"
import { ASSET } from "../catalog/Usdt.ts"

/** An amount of money as decimal text, which loses no precision, and its asset. */
export const PriceRecord = Schema.Struct({
  amount: Schema.String.check(Schema.isPattern(/^\d+\.\d{2,6}$/u)),
  asset: Schema.Literal(ASSET)
}).annotate({ identifier: "Price" })
export type PriceRecord = typeof PriceRecord.Type
