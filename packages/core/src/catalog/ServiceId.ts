import { Schema } from "effect"
import { ROWS } from "./Rows.ts"

/** The id of a service: of an operation with a service record. */
export type ServiceId = NonNullable<(typeof ROWS)[number]["serviceId"]>
export const ServiceId = Schema.Literals(
  ROWS.flatMap(({ serviceId }): ReadonlyArray<ServiceId> => (serviceId === null ? [] : [serviceId]))
).annotate({ identifier: "ServiceId" })
