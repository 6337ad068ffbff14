import { Schema } from "effect"
import type { ServiceId } from "./ServiceId.ts"

/** The countries in which numbers can be bought. */
export const NumberCountry = Schema.Literals(["US", "CA"])
export type NumberCountry = typeof NumberCountry.Type

/** The service that sells numbers of a country. */
export const NUMBER_PURCHASES = { US: "phone.number.us.30d", CA: "phone.number.ca.30d" } as const satisfies Readonly<
  Record<NumberCountry, ServiceId>
>
