/** Replaces mail addresses and telephone numbers, which some providers repeat in their messages. */
export const withoutPersons = (message: string): string =>
  message.replaceAll(/[^\s<>@]{1,64}@[^\s<>@]{1,255}/g, "…@…").replaceAll(/\+\d{7,15}\b/g, "+…")
