const minute = 60_000;

/** How long what is known of a session counts as fresh and is kept, milliseconds (AUTH-9). */
export const cacheTimes = {
  auth: { staleTime: 5 * minute, gcTime: 30 * minute },
  profile: { staleTime: 2 * minute },
  organization: { staleTime: 2 * minute, gcTime: 5 * minute },
} as const;
