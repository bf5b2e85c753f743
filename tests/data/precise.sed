# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The verifier marks all scalars precise, as those of RHEL 9.0 to 9.2 and of Ubuntu's 5.15 before -91 do for programs with
# functions: it then follows more states.
s/^\treg->precise = !env->bpf_capable;/\treg->precise = true;/
/^static int __mark_chain_precision(/,/^}/ s/^\tif (!env->bpf_capable)$/\tif (true)/
/forget precise markings we inherited/,/mark_all_scalars_imprecise/ s/if (env->bpf_capable)/if (false)/
