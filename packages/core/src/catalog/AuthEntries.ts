import type { CatalogRow } from "./CatalogRow.ts"
import { SIGN_IN_ERRORS } from "./CommonErrors.ts"

/**
 * Token operations for a wallet that signs in. `purpose` is also the statement that the wallet shows: printable ASCII
 * without quotes.
 */
export const AUTH_ENTRIES = [
  {
    operationId: "recoverToken",
    serviceId: "auth.token",
    method: "POST",
    path: "/api/v1/auth/token",
    price: null,
    authentication: "sign-in-with-x",
    capability: "always",
    guide: "/docs#authentication",
    purpose: "Returns the current access token of the wallet that signs in.",
    errors: SIGN_IN_ERRORS,
    extension: true,
    nextActions: [{ serviceId: "auth.revoke", why: "Revoke the token if someone else may know it." }]
  },
  {
    operationId: "revokeTokens",
    serviceId: "auth.revoke",
    method: "POST",
    path: "/api/v1/auth/revoke",
    price: null,
    authentication: "sign-in-with-x",
    capability: "always",
    guide: "/docs#authentication",
    purpose:
      "Revokes every access token of the wallet that signs in, ends its realtime sessions, and returns a new token.",
    errors: SIGN_IN_ERRORS,
    extension: true,
    nextActions: [{ serviceId: "auth.token", why: "Get the new token again if the response was lost." }]
  }
] as const satisfies ReadonlyArray<CatalogRow>
