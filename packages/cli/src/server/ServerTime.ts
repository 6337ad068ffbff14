/** What the server says of the time, in the header of an answer (to the second, rounded down); undefined where it says nothing. */
export const serverTime = (headers: Headers): string | undefined => {
  const millis = Date.parse(headers.get("date") ?? "")
  return Number.isNaN(millis) ? undefined : new Date(millis).toISOString()
}
