//! Safety checks that wgpu injects into kernels, and which of them a kernel may omit.

/// The checks injected into a kernel. A device opened with checked shaders injects all of them into every kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuntimeChecks {
    /// Keep indices of storage buffers and arrays in bounds.
    bounds: bool,
    /// Count the iterations of every loop and end it after 2^64, so that no compiler may take the loop for infinite.
    loops: bool,
}

impl RuntimeChecks {
    /// All checks: correct for every kernel.
    pub(crate) const ALL: Self = Self { bounds: true, loops: true };

    /// Omits the bound on loops.
    ///
    /// # Safety
    /// Every loop of the kernel terminates, whatever the buffers hold.
    pub(crate) const unsafe fn without_loops(self) -> Self {
        Self { loops: false, ..self }
    }

    /// Omits bounds checks.
    ///
    /// # Safety
    /// Every index of the kernel lies within its array or the bound range of its buffer, whatever the buffers hold: a
    /// program can write to them (see [`Device::as_wgpu`](crate::Device::as_wgpu)).
    pub(crate) const unsafe fn without_bounds(self) -> Self {
        Self { bounds: false, ..self }
    }

    /// Restores bounds checks.
    pub(crate) const fn with_bounds(self) -> Self {
        Self { bounds: true, ..self }
    }

    pub(super) fn compile(
        self,
        device: &wgpu::Device,
        descriptor: wgpu::ShaderModuleDescriptor<'_>,
    ) -> wgpu::ShaderModule {
        if self == Self::ALL {
            return device.create_shader_module(descriptor);
        }
        // Division keeps its guards: they define integer division by zero, and results depend on that value.
        let mut checks = wgpu::ShaderRuntimeChecks::checked();
        (checks.bounds_checks, checks.force_loop_bounding) = (self.bounds, self.loops);
        // SAFETY: the callers of `without_loops` and `without_bounds` have vouched for every omitted check.
        unsafe { device.create_shader_module_trusted(descriptor, checks) }
    }
}
