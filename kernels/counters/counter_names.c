/* The counters that are used, and every name under which they are known. */
#include "kernels/counters/counter_names.h"

const CounterName COUNTER_NAMES[COUNTER_COUNT] = {
    {"l1tex__m_xbar2l1tex_read_bytes.sum", "byte", "read across the boundary", NCU_UNIT_BYTE},
    {"l1tex__m_l1tex2xbar_write_bytes.sum", "byte", "written across it", NCU_UNIT_BYTE},
    {"lts__t_sectors_srcunit_tex_op_read.sum", "sector", "sectors read from L2", NCU_UNIT_SECTOR},
    {"lts__t_sectors_srcunit_tex_op_write.sum", "sector", "sectors written to L2", NCU_UNIT_SECTOR},
    {"lts__t_sectors_srcunit_ltcfabric.sum", "sector", "sectors across the fabric", NCU_UNIT_SECTOR},
    {"dram__bytes_read.sum", "byte", "read from HBM", NCU_UNIT_BYTE},
    {"dram__bytes_write.sum", "byte", "written to HBM", NCU_UNIT_BYTE},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "", "bank conflicts, loads", NCU_UNIT_COUNT},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "", "bank conflicts, stores", NCU_UNIT_COUNT},
    {"sm__inst_executed_pipe_tensor_op_hmma.sum", "inst", "tensor instructions", NCU_UNIT_COUNT},
    {"gpu__time_duration.sum", "ns", "time", NCU_UNIT_SECOND},
    {"lts__t_sectors_srcunit_tex_lookup_hit.sum", "sector", "L2 sectors that hit", NCU_UNIT_SECTOR},
    {"lts__t_sectors_srcunit_tex_lookup_miss.sum", "sector", "L2 sectors that miss", NCU_UNIT_SECTOR},
    {"counted_read_bytes", "byte", "bytes counted, read", NCU_UNIT_BYTE},
    {"counted_write_bytes", "byte", "bytes counted, written", NCU_UNIT_BYTE},
    {"dram__bytes.sum", "byte", "read from HBM and written", NCU_UNIT_BYTE},
    {"lts__t_sectors_srcunit_tex_op_red.sum", "sector", "sectors added to in L2", NCU_UNIT_SECTOR},
    {"lts__t_sector_hit_rate.pct", "%", "hit rate of L2, all look-ups", NCU_UNIT_RATIO},
    {"l1tex__t_sector_hit_rate.pct", "%", "hit rate of L1", NCU_UNIT_RATIO},
    {"l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum", "byte", "spilled registers read", NCU_UNIT_BYTE},
    {"l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum", "byte", "spilled registers written", NCU_UNIT_BYTE},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum", "byte", "sectors that loads touched", NCU_UNIT_BYTE},
    {"smsp__sass_data_bytes_mem_global_op_ld.sum", "byte", "bytes that loads asked for", NCU_UNIT_BYTE},
    {"sm__inst_executed_pipe_tensor_op_gmma.sum", "inst", "wgmma instructions", NCU_UNIT_COUNT},
};

const CounterAlias COUNTER_ALIASES[] = {
    {"l1tex__m_xbar2l1tex_read_sectors.sum", COUNTER_BOUNDARY_READ},
    {"l1tex__m_l1tex2xbar_write_sectors.sum", COUNTER_BOUNDARY_WRITE},
    {"dram__bytes_op_read.sum", COUNTER_HBM_READ}, /* compute capability 10.0 and 12.0 */
    {"dram__bytes_op_write.sum", COUNTER_HBM_WRITE},
    {"dram__sectors_read.sum", COUNTER_HBM_READ},
    {"dram__sectors_write.sum", COUNTER_HBM_WRITE},
    {"dram__sectors_op_read.sum", COUNTER_HBM_READ},
    {"dram__sectors_op_write.sum", COUNTER_HBM_WRITE},
    {"fbpa__dram_read_bytes.sum", COUNTER_HBM_READ}, /* Volta, Turing */
    {"fbpa__dram_write_bytes.sum", COUNTER_HBM_WRITE},
    {"fbpa__dram_read_sectors.sum", COUNTER_HBM_READ},
    {"fbpa__dram_write_sectors.sum", COUNTER_HBM_WRITE},
    {"dram__sectors.sum", COUNTER_HBM_TOTAL},
    {"gpu__time_duration_measured_user.sum", COUNTER_TIME},
    {"gpu__time_duration_measured_wallclock.sum", COUNTER_TIME},
    {"gpu__time_active.sum", COUNTER_TIME},
    {"Duration", COUNTER_TIME}, /* the labels of the page of details */
    {"L2 Hit Rate", COUNTER_L2_HIT_RATE},
    {"L1/TEX Hit Rate", COUNTER_L1_HIT_RATE},
    {"lts__average_t_sector_hit_rate.pct", COUNTER_L2_HIT_RATE},
    {"lts__average_t_sector_hit_rate_realtime.pct", COUNTER_L2_HIT_RATE},
    {"lts__t_sector_hit_rate.ratio", COUNTER_L2_HIT_RATE},
    {"lts__average_t_sector_hit_rate.ratio", COUNTER_L2_HIT_RATE},
    {"l1tex__average_t_sector_hit_rate.pct", COUNTER_L1_HIT_RATE},
    {"l1tex__t_sector_hit_rate.ratio", COUNTER_L1_HIT_RATE},
    {"l1tex__average_t_sector_hit_rate.ratio", COUNTER_L1_HIT_RATE},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", COUNTER_LOCAL_READ},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", COUNTER_LOCAL_WRITE},
    {"smsp__sass_data_bytes_mem_local_op_ld.sum", COUNTER_LOCAL_READ},
    {"smsp__sass_data_bytes_mem_local_op_st.sum", COUNTER_LOCAL_WRITE},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", COUNTER_GLOBAL_READ},
    {"sm__sass_data_bytes_mem_global_op_ld.sum", COUNTER_GLOBAL_USED},
    {"smsp__inst_executed_pipe_tensor_op_hmma.sum", COUNTER_HMMA},
    {"smsp__inst_executed_pipe_tensor_op_gmma.sum", COUNTER_GMMA},
};
const int N_COUNTER_ALIASES = (int)(sizeof COUNTER_ALIASES / sizeof *COUNTER_ALIASES);

const CounterRate COUNTER_RATES[] = {
    {"dram__bytes_read.sum.per_second", 0, COUNTER_HBM_READ},
    {"dram__bytes_op_read.sum.per_second", 0, COUNTER_HBM_READ},
    {"fbpa__dram_read_bytes.sum.per_second", 0, COUNTER_HBM_READ},
    {"dram__bytes_write.sum.per_second", 1, COUNTER_HBM_WRITE},
    {"dram__bytes_op_write.sum.per_second", 1, COUNTER_HBM_WRITE},
    {"fbpa__dram_write_bytes.sum.per_second", 1, COUNTER_HBM_WRITE},
    {"dram__bytes.sum.per_second", 2, COUNTER_HBM_TOTAL},
    {"Memory Throughput", 2, COUNTER_HBM_TOTAL}, /* of the section of the memory's workload; another is in % */
    {"l1tex__m_xbar2l1tex_read_bytes.sum.per_second", 3, COUNTER_BOUNDARY_READ},
};
const int N_COUNTER_RATES = (int)(sizeof COUNTER_RATES / sizeof *COUNTER_RATES);
