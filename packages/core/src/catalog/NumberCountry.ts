import { Schema } from "effect"
import type { ServiceId } from "./ServiceId.ts"

export const NumberCountry = Schema.Literals(["US", "CA"])
export type NumberCountry = typeof NumberCountry.Type

/** The service that sells numbers of a country. */
export const NUMBER_PURCHASES = { US: "phone.number.us.30d", CA: "phone.number.ca.30d" } as const satisfies Readonly<
  Record<NumberCountry, ServiceId>
>
