import type { CatalogRow } from "./CatalogRow.ts"
import { BEARER_ERRORS } from "./CommonErrors.ts"

/** The state of payments. Operations beyond the specification. */
export const PAYMENT_EXTENSIONS = [
  {
    operationId: "readPaymentStatus",
    serviceId: "payment.status",
    method: "POST",
    path: "/api/v1/payments/status",
    price: null,
    authentication: "none",
    capability: "always",
    extension: true,
    guide: "/docs#payment-status",
    purpose:
      "Returns the state of the payment in the PAYMENT-SIGNATURE header, and what to do next: pay, retry_same, wait or done. It executes nothing.",
    errors: ["INVALID_REQUEST", "RATE_LIMITED"],
    nextActions: [{ serviceId: "payment.get", why: "Read the payment of an operation by its id." }]
  },
  {
    operationId: "getPayment",
    serviceId: "payment.get",
    method: "GET",
    path: "/api/v1/payments/{operationId}",
    price: null,
    authentication: "bearer",
    capability: "always",
    extension: true,
    guide: "/docs#payment-status",
    purpose: "Returns the state of the payment of one of your operations, and what to do next.",
    errors: [...BEARER_ERRORS, "RESOURCE_NOT_FOUND", "RESOURCE_NOT_OWNED"],
    nextActions: [{ serviceId: "payment.status", why: "Read a payment of which you have only the signed header." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>
